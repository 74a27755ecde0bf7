package clients

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"berth/internal/atomicfile"

	"golang.org/x/sys/unix"
)

// schemaVersion is the newest schema of receipts and ends.
const schemaVersion = 1

// Receipt is the evidence that a client was started. It is on disk before the
// client's first instruction runs and never changes. It holds neither arguments
// nor environment: those may hold secrets.
type Receipt struct {
	SchemaVersion int       `json:"schema_version"` // set by WriteReceipt
	Process       Identity  `json:"process"`
	Session       string    `json:"session"`
	Run           string    `json:"run"`
	Attempt       int       `json:"attempt"` // the how manieth client of the run, from 1
	Provider      string    `json:"provider"`
	Executable    string    `json:"executable"`          // absolute path
	NativeID      string    `json:"native_id,omitempty"` // as known at the start: chosen or resumed
	Supervisor    Identity  `json:"supervisor"`
	StartedAt     time.Time `json:"started_at"`
}

// End is the evidence that a client has ended, written once by who saw it.
type End struct {
	SchemaVersion int       `json:"schema_version"` // set by WriteEnd
	Process       Identity  `json:"process"`
	ExitCode      *int      `json:"exit_code"`        // null when a signal ended it, or nobody could see
	Signal        string    `json:"signal,omitempty"` // "SIGKILL"
	Outcome       Outcome   `json:"outcome"`
	Reason        string    `json:"reason"`             // for people, one line
	AskedBy       string    `json:"asked_by,omitempty"` // who asked for it; "" is nobody
	Ended         int       `json:"ended"`              // processes of the run ended with it, itself included
	Survivors     []int     `json:"survivors"`          // pids that could not be ended
	EndedAt       time.Time `json:"ended_at"`

	// The survivors, as no other process can be taken for them. Those that have
	// cleared their environment are known to be of the run by this alone.
	SurvivorProcesses []Identity `json:"survivor_processes,omitempty"`
}

// Survived notes processes that are left of the run.
func (e *End) Survived(left []Process) {
	for _, p := range left {
		e.Survivors = append(e.Survivors, p.PID)
		e.SurvivorProcesses = append(e.SurvivorProcesses, p.Identity)
	}
}

// Status is the exit status that stands for the end: the client's own, 128+signal for
// a signal, and 0 where somebody asked for the end and nothing went wrong.
func (e End) Status() int {
	switch {
	case e.Outcome == Completed && e.AskedBy != "":
		return 0
	case e.ExitCode != nil:
		return *e.ExitCode
	}
	return 128 + int(unix.SignalNum(e.Signal))
}

// Text says for people why the client ended, and who asked for it.
func (e End) Text() string {
	if e.AskedBy != "" {
		return e.Reason + " by " + e.AskedBy
	}
	return e.Reason
}

// dirName is the sub directory of a run directory that holds receipts and ends.
const dirName = "clients"

// WriteReceipt makes r durable in the run directory runDir, which must exist. The
// error wraps fs.ErrExist when that client has a receipt already.
func WriteReceipt(runDir string, r Receipt) error {
	r.SchemaVersion = schemaVersion
	r.StartedAt = r.StartedAt.UTC()
	return write("receipt", runDir, r.Process.String()+".json", r)
}

// WriteEnd makes e durable in runDir. The error wraps fs.ErrExist when that
// client's end is recorded already: the first to see it is believed.
func WriteEnd(runDir string, e End) error {
	e.SchemaVersion = schemaVersion
	e.EndedAt = e.EndedAt.UTC()
	if e.Survivors == nil {
		e.Survivors = []int{}
	}
	return write("end", runDir, e.Process.String()+".end.json", e)
}

func write(op, runDir, name string, v any) error {
	dir := filepath.Join(runDir, dirName)
	err := atomicfile.CreateJSON(op, filepath.Join(dir, name), v)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// The first of its run. A run directory that is gone is not made again.
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("cannot write the %s of a client: %w", op, err)
	}
	if err := syncDir(runDir); err != nil {
		return fmt.Errorf("cannot write the %s of a client: %w", op, err)
	}
	return atomicfile.CreateJSON(op, filepath.Join(dir, name), v)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
