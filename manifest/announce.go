package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"berth/internal/atomicfile"
)

// Turn states an agent can announce.
const (
	TurnIdle    = "idle"    // it waits for the person's next message
	TurnBusy    = "busy"    // it works
	TurnWaiting = "waiting" // it asks something (an approval) in the middle of its work
	TurnBlocked = "blocked" // it asks something (a login, trust) before it takes any message
)

// Announcement is what an agent, or a hook it runs, says about itself. Empty
// fields say nothing; the supervisor merges announcements in the order made.
type Announcement struct {
	SchemaVersion int    `json:"schema_version"`
	Provider      string `json:"provider,omitempty"`
	NativeID      string `json:"native_id,omitempty"`    // the newest wins, older ones are kept as superseded
	Account       string `json:"account,omitempty"`      // which of several accounts or configuration directories
	HistoryPath   string `json:"history_path,omitempty"` // absolute
	Recorded      bool   `json:"recorded,omitempty"`     // the conversation can be resumed from its history
	Ready         bool   `json:"ready,omitempty"`        // it takes input now
	Turn          string `json:"turn,omitempty"`         // TurnIdle, TurnBusy, TurnWaiting
	WaitingFor    string `json:"waiting_for,omitempty"`  // what, when Turn is TurnWaiting
	Source        string `json:"source"`                 // who says so: "agent", "hook", …
	At            string `json:"at"`                     // RFC 3339 with nanoseconds; set by Announce if empty
}

// announceSchema is the newest schema of an announcement.
const announceSchema = 1

var announced atomic.Uint64

// Announce drops a into the inbox of the run directory runDir, where the run's
// supervisor takes it at once. It is not fsynced: what the supervisor makes of it
// is. A missing run directory is an error; nothing is made again.
func Announce(runDir string, a Announcement) error {
	a.SchemaVersion = announceSchema
	now := time.Now()
	if a.At == "" {
		a.At = now.UTC().Format(time.RFC3339Nano)
	}
	name := fmt.Sprintf("%020d-%d-%d.json", now.UnixNano(), os.Getpid(), announced.Add(1))
	return atomicfile.Drop("announce", filepath.Join(runDir, "inbox", name), a)
}
