package manifest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/clients"
	"berth/internal/atomicfile"
)

// Wants of a session.
const (
	WantRun     = "run"
	WantStopped = "stopped"
)

// Wanted is the last word on whether a run's client should live. It outlives the
// request that came with it; restart policies obey it.
type Wanted struct {
	SchemaVersion int    `json:"schema_version"`
	Seq           int    `json:"seq"`
	Want          string `json:"want"`
	By            string `json:"by"` // the command and pid that asked
	At            string `json:"at"`
}

// Wanted reads the last word; none yields the zero value.
func (d Dir) Wanted() (Wanted, error) {
	var w Wanted
	err := atomicfile.ReadJSON(d.Path("wanted.json"), Schema, &w)
	if errors.Is(err, fs.ErrNotExist) {
		return Wanted{}, nil
	}
	return w, err
}

// SetWanted replaces the last word, also one that is damaged; one that a newer berth
// wrote is an error. The caller holds the launch lock.
func (d Dir) SetWanted(want, by string) (Wanted, error) {
	old, err := d.Wanted()
	if _, newer := errors.AsType[*atomicfile.NewerError](err); newer {
		return Wanted{}, err
	}
	w := Wanted{SchemaVersion: Schema, Seq: old.Seq + 1, Want: want, By: by, At: time.Now().UTC().Format(time.RFC3339Nano)}
	return w, atomicfile.WriteJSON("wanted", d.Path("wanted.json"), w)
}

// Request kinds.
const (
	RequestStop    = "stop"    // end the client and its processes, then leave
	RequestRestart = "restart" // end them, then start the next client of the run
)

// Why a client was asked to end.
const (
	ReasonStopped   = "stopped"
	ReasonRestarted = "restarted"
	ReasonMoved     = "moved" // replaced by a new client elsewhere
	ReasonCompleted = "completed"
)

// Request asks the supervisor for something. It names the client it is meant for,
// so that one that comes late does nothing to the next.
type Request struct {
	SchemaVersion int              `json:"schema_version"`
	Seq           int              `json:"seq"`
	Kind          string           `json:"kind"`
	Client        clients.Identity `json:"client"`
	Reason        string           `json:"reason"`
	By            string           `json:"by"`
	Spare         []string         `json:"spare"`    // programs of the tree to leave alone, by name
	Boot          string           `json:"boot"`     // whose monotonic clock Deadline is of
	Deadline      int64            `json:"deadline"` // monotonic, nanoseconds: void after it
}

// Overdue reports whether the request is void by time.
func (r Request) Overdue() bool {
	return r.Boot != clients.Machine().Boot || Monotonic() > r.Deadline
}

// Done answers a request.
type Done struct {
	SchemaVersion int      `json:"schema_version"`
	Seq           int      `json:"seq"`
	OK            bool     `json:"ok"`
	Message       string   `json:"message,omitempty"`    // why not
	Ended         int      `json:"ended"`                // processes ended
	Left          []int    `json:"left,omitempty"`       // pids that could not be ended
	Spared        []string `json:"spared,omitempty"`     // "name (pid)" left alone on purpose
	Unverified    []int    `json:"unverified,omitempty"` // pids that could not be examined
}

// AddRequest writes r under the next free number and returns it. A request is
// visible to the supervisor the moment this returns.
func (d Dir) AddRequest(r Request) (Request, error) {
	r.SchemaVersion, r.Boot = Schema, clients.Machine().Boot
	for {
		last, err := d.lastRequest()
		if err != nil {
			return r, err
		}
		r.Seq = last + 1
		err = atomicfile.CreateJSON("request", d.Path("requests", strconv.Itoa(r.Seq)+".json"), r)
		if !errors.Is(err, fs.ErrExist) { // somebody else took the number: take the next
			return r, err
		}
	}
}

func (d Dir) lastRequest() (int, error) {
	seqs, err := d.requestSeqs()
	if err != nil || len(seqs) == 0 {
		return 0, err
	}
	return seqs[len(seqs)-1], nil
}

// requestSeqs are the numbers of all requests, answered or not, in order.
func (d Dir) requestSeqs() ([]int, error) {
	entries, err := os.ReadDir(d.Path("requests"))
	if err != nil {
		return nil, fmt.Errorf("cannot read the requests of %s: %w", d, err)
	}
	var seqs []int
	for _, e := range entries {
		num, ok := strings.CutSuffix(e.Name(), ".json")
		if n, err := strconv.Atoi(num); ok && err == nil && n > 0 {
			seqs = append(seqs, n)
		}
	}
	slices.Sort(seqs)
	return seqs, nil
}

// Pending returns the requests above seq after that have no answer, in order. An
// unreadable one comes back in the error and does not hide the others.
func (d Dir) Pending(after int) ([]Request, error) {
	seqs, err := d.requestSeqs()
	if err != nil {
		return nil, err
	}
	var out []Request
	var errs []error
	for _, n := range seqs {
		if n <= after {
			continue
		}
		if _, err := os.Lstat(d.donePath(n)); err == nil {
			continue
		}
		var r Request
		if err := atomicfile.ReadJSON(d.Path("requests", strconv.Itoa(n)+".json"), Schema, &r); err != nil {
			errs = append(errs, err)
			continue
		}
		out = append(out, r)
	}
	return out, errors.Join(errs...)
}

func (d Dir) donePath(seq int) string {
	return d.Path("requests", strconv.Itoa(seq)+".done.json")
}

// Answer writes the answer to request a.Seq. The first answer stays.
func (d Dir) Answer(a Done) error {
	a.SchemaVersion = Schema
	err := atomicfile.CreateJSON("answer", d.donePath(a.Seq), a)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// Answered reads the answer to request seq; ok is false while there is none.
func (d Dir) Answered(seq int) (a Done, ok bool, err error) {
	err = atomicfile.ReadJSON(d.donePath(seq), Schema, &a)
	if errors.Is(err, fs.ErrNotExist) {
		return Done{}, false, nil
	}
	return a, err == nil, err
}

// Inbox takes the announcements out of the inbox, in the order made. An unreadable
// one is removed and reported; it hides no other.
func (d Dir) Inbox() ([]Announcement, error) {
	entries, err := os.ReadDir(d.Path("inbox")) // sorted by name, which begins with the time
	if err != nil {
		return nil, fmt.Errorf("cannot read the inbox of %s: %w", d, err)
	}
	var out []Announcement
	var errs []error
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" || strings.HasPrefix(e.Name(), ".") {
			continue // still being written
		}
		path := d.Path("inbox", e.Name())
		var a Announcement
		if err := atomicfile.ReadJSON(path, announceSchema, &a); err != nil {
			errs = append(errs, err)
		} else {
			out = append(out, a)
		}
		os.Remove(path) //nolint:errcheck // if it stays it is merged again, to the same end
	}
	return out, errors.Join(errs...)
}
