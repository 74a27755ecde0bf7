package manifest

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"berth/clients"
	"berth/internal/atomicfile"

	"golang.org/x/sys/unix"
)

// Stage is how far a launch has come. It is the name of the marker file, so that a
// step is one rename, which exactly one party can make.
type Stage string

// The stages. A launch goes prepared → launching (its launcher claims it) →
// supervised (its supervisor took it) → no marker (the receipt is on disk and the
// client may begin). It is withdrawn or expired by whoever settles it under the launch
// lock; the party that was late finds nothing to rename, and ends.
const (
	NoMarker   Stage = ""
	Prepared   Stage = "prepared"
	Launching  Stage = "launching"
	Supervised Stage = "supervised"
	Expired    Stage = "expired"
	Withdrawn  Stage = "withdrawn"
)

var stages = []Stage{Prepared, Launching, Supervised}

// LaunchWithin is how long a launch may take from prepared to its receipt.
const LaunchWithin = 5 * time.Second

// Marker is the content of a launch marker.
type Marker struct {
	SchemaVersion int              `json:"schema_version"`
	Attempt       int              `json:"attempt"`  // the how manieth client of the run this is to be, from 1
	Owner         clients.Identity `json:"owner"`    // the launcher
	Deadline      int64            `json:"deadline"` // monotonic clock of Owner's boot, nanoseconds
}

// Overdue reports whether the launch's time has passed, or its machine was
// restarted, so that somebody else may settle it.
func (m Marker) Overdue() bool {
	here := clients.Machine()
	return m.Owner.Boot != here.Boot && m.Owner.Host == here.Host || m.Remaining() <= 0
}

// Remaining is the time left until the deadline, at most LaunchWithin.
func (m Marker) Remaining() time.Duration {
	return min(time.Duration(m.Deadline-Monotonic()), LaunchWithin)
}

// Monotonic is the machine's monotonic clock in nanoseconds since boot. It does not
// run while the machine sleeps, and compares across processes of one boot.
func Monotonic() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic("internal error: no monotonic clock: " + err.Error())
	}
	return ts.Nano()
}

// Prepare makes a new marker for attempt. The caller holds the launch lock and has
// settled any earlier launch.
func (d Dir) Prepare(attempt int) error {
	return atomicfile.CreateJSON("prepare", d.Path(string(Prepared)), Marker{
		SchemaVersion: Schema, Attempt: attempt, Owner: clients.Self(),
		Deadline: Monotonic() + int64(LaunchWithin),
	})
}

// Advance moves the launch from one stage to the next. It fails, wrapping
// fs.ErrNotExist, when somebody else moved it first.
func (d Dir) Advance(from, to Stage) error {
	return atomicfile.Rename("advance-"+string(to), d.Path(string(from)), d.Path(string(to)))
}

// FinishLaunch removes the marker: the receipt is on disk, and from now on nobody can
// give the launch up. It fails, wrapping fs.ErrNotExist, when somebody has. After a
// power loss the marker may be there again, of another boot and so overdue.
func (d Dir) FinishLaunch() error {
	return atomicfile.Remove("finish-launch", d.Path(string(Supervised)))
}

// Marker returns the stage of the launch under way, NoMarker when there is none.
func (d Dir) Marker() (Stage, Marker, error) {
	for range 8 { // a marker that moves on between two looks is looked for again
		for _, s := range stages {
			var m Marker
			err := atomicfile.ReadJSON(d.Path(string(s)), Schema, &m)
			if err == nil || !errors.Is(err, fs.ErrNotExist) {
				return s, m, err
			}
		}
		if moving, err := d.anyMarker(); err != nil || !moving {
			return NoMarker, Marker{}, err
		}
	}
	return NoMarker, Marker{}, fmt.Errorf("cannot read the launch marker of %s: it keeps moving", d)
}

func (d Dir) anyMarker() (bool, error) {
	for _, s := range stages {
		var st unix.Stat_t
		err := unix.Lstat(d.Path(string(s)), &st)
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, unix.ENOENT) {
			return false, err
		}
	}
	return false, nil
}
