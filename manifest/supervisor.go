package manifest

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"berth/clients"
	"berth/internal/atomicfile"
)

// Phases of a supervisor.
const (
	PhaseStarting = "starting" // it has the life lock; no receipt yet
	PhaseRunning  = "running"  // its client runs
	PhaseStopping = "stopping" // it has accepted a stop
	PhaseBackoff  = "backoff"  // its client has ended, and its policy will start the next
	PhaseEnded    = "ended"    // its client has ended and it is leaving
)

// States of the opening request.
const (
	PromptNone    = "none"
	PromptWaiting = "waiting" // for the agent to be ready
	PromptSending = "sending"
	PromptSent    = "sent"
)

// Supervisor is what a supervisor says of itself, replaced at every change.
type Supervisor struct {
	SchemaVersion int              `json:"schema_version"`
	Process       clients.Identity `json:"process"`
	Since         string           `json:"since"` // RFC 3339: when it started
	Version       string           `json:"version"`
	Protocol      int              `json:"protocol"`
	Socket        string           `json:"socket"`
	Phase         string           `json:"phase"`
	PhaseSince    string           `json:"phase_since"`
	Request       int              `json:"request,omitempty"` // the last request accepted
	Attempt       int              `json:"attempt"`           // the client it runs is the so manieth of the run
	Ready         bool             `json:"ready"`             // the agent takes input
	Turn          Turn             `json:"turn"`
	Prompt        string           `json:"prompt"` // of the opening request
	Restarts      Restarts         `json:"restarts"`
	Hosts         []Host           `json:"hosts"`
}

// Turn is what the agent last announced of its turn; State "" is unknown.
type Turn struct {
	State      string `json:"state,omitempty"`
	WaitingFor string `json:"waiting_for,omitempty"`
	Source     string `json:"source,omitempty"`
	Since      string `json:"since,omitempty"`
	Ended      int    `json:"ended,omitempty"` // how many turns of this run have ended
}

// Host kinds.
const (
	HostTerminal = "terminal"
	HostTmux     = "tmux"
)

// Host is one terminal joined to the supervisor.
type Host struct {
	Kind       string           `json:"kind"`
	Process    clients.Identity `json:"process"`
	TTY        string           `json:"tty,omitempty"`
	Pane       string           `json:"pane,omitempty"`
	Server     clients.Identity `json:"server,omitzero"` // of a tmux host: its tmux server
	TerminalID string           `json:"terminal_id,omitempty"`
	Keyboard   bool             `json:"keyboard"` // it has the keyboard; others mirror
	Since      string           `json:"since"`

	// Of a tmux host: the operators who look at the pane, the terminal of one of them,
	// and since when somebody does.
	Watchers     int    `json:"watchers,omitempty"`
	WatcherTTY   string `json:"watcher_tty,omitempty"`
	WatchedSince string `json:"watched_since,omitempty"`
}

// Holds reports whether h keeps others from the keyboard: a terminal that has it
// does, a pane only while somebody looks at it.
func (h Host) Holds() bool { return h.Keyboard && (h.Kind == HostTerminal || h.Watchers > 0) }

// String says who h is, where, and since when, for refusals.
func (h Host) String() string {
	clock := func(at string) string {
		if t, err := time.Parse(time.RFC3339Nano, at); err == nil {
			return t.Local().Format("15:04:05")
		}
		return at
	}
	switch {
	case h.Kind == HostTerminal:
		return fmt.Sprintf("terminal %s (pid %d, since %s)", h.TTY, h.Process.PID, clock(h.Since))
	case h.Watchers == 0:
		return fmt.Sprintf("its tmux pane %s (since %s)", h.Pane, clock(h.Since))
	}
	return fmt.Sprintf("somebody at %s, attached to its tmux pane %s (since %s)", cmp.Or(h.WatcherTTY, "a terminal"), h.Pane, clock(h.WatchedSince))
}

// Holder is the host that holds the session, if any.
func (s Supervisor) Holder() (Host, bool) {
	for _, h := range s.Hosts {
		if h.Holds() {
			return h, true
		}
	}
	return Host{}, false
}

// Supervisor reads who supervises the run; never supervised yields the zero value.
// Whether that process still lives is for clients.Check to say.
func (d Dir) Supervisor() (Supervisor, error) {
	var s Supervisor
	err := atomicfile.ReadJSON(d.Path("supervisor.json"), Schema, &s)
	if errors.Is(err, fs.ErrNotExist) {
		return Supervisor{}, nil
	}
	return s, err
}

// WriteSupervisor replaces the record.
func (d Dir) WriteSupervisor(s Supervisor) error {
	s.SchemaVersion = Schema
	if s.Hosts == nil {
		s.Hosts = []Host{}
	}
	return atomicfile.WriteJSON("supervisor", d.Path("supervisor.json"), s)
}

// Restart policies of a session.
const (
	RestartNever     = "never"
	RestartOnFailure = "on-failure"
	RestartAlways    = "always"
)

// Restarts is a restart policy with its counters.
type Restarts struct {
	Policy   string      `json:"policy"`
	Count    int         `json:"count"`              // failures since the last stable client
	Failures []time.Time `json:"failures,omitempty"` // of the last ten minutes
	Held     bool        `json:"held,omitempty"`     // it failed too often; only a person's restart starts it again
	NextAt   *time.Time  `json:"next_at,omitempty"`  // when the next client is started, while the supervisor waits to
}
