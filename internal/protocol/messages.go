package protocol

import (
	"encoding/json"
	"fmt"

	"berth/clients"
	"berth/internal/session"
	"berth/manifest"
)

// What a connection is for.
const (
	AsHost = "host" // a terminal joins
	AsBell = "bell" // a request lies in the run directory: look now, answer Welcome, close
	AsLook = "look" // somebody came to or left the tmux pane: have its host count; then as a bell

	// AsFence asks for an answer when the tmux pane shows all the client has written
	// so far; a pane whose host has not joined yet is waited for.
	AsFence = "fence"

	AsSend = "send" // a message is to be typed: Refused, or Welcome and Taken when it was

	AsTake = "take" // the tmux pane's host is to have the keyboard; then as a bell
)

// What a host wants.
const (
	WantKeyboard = "keyboard" // the keyboard, from a pane nobody looks at or from nobody
	WantMove     = "move"     // the keyboard, whoever has it
	WantMirror   = "mirror"   // the screen only
)

// Greeting is Hello and Welcome. Each side says what it knows and compares what
// the other says; "" and zero are not known, and match anything.
type Greeting struct {
	Protocol    int              `json:"protocol"`     // Hello: newest spoken; Welcome: the one in use
	MinProtocol int              `json:"min_protocol"` // Hello: oldest spoken
	Version     string           `json:"version"`
	Run         string           `json:"run"`
	Boot        string           `json:"boot"`
	Supervisor  clients.Identity `json:"supervisor,omitzero"`
	Client      clients.Identity `json:"client,omitzero"`
	NativeID    string           `json:"native_id,omitempty"`

	As   string        `json:"as"`
	Want string        `json:"want,omitempty"`
	Host manifest.Host `json:"host,omitzero"`
	Size Size          `json:"size,omitzero"`

	Message *Message `json:"message,omitempty"` // with AsSend
}

// Message is what a command has typed into the agent.
type Message struct {
	ID   string `json:"id"` // one of a run is typed at most once
	Text string `json:"text"`
}

// Receipt is what became of a message.
type Receipt struct {
	Already bool `json:"already"` // it was sent before, and is not sent again
	Proven  bool `json:"proven"`  // the agent has shown that its turn began
}

// Size of a terminal in cells and pixels; pixels are 0 when not known.
type Size struct {
	Cols   int `json:"cols"`
	Rows   int `json:"rows"`
	XPixel int `json:"xpixel,omitempty"`
	YPixel int `json:"ypixel,omitempty"`
}

// MaxCells bounds either side of a size, so that nobody can ask for the absurd.
const MaxCells = 10000

// Valid reports whether s can be set on a terminal.
func (s Size) Valid() bool {
	return s.Cols > 0 && s.Rows > 0 && s.Cols <= MaxCells && s.Rows <= MaxCells
}

// Refusal says why not, in the words of a session.Error.
type Refusal struct {
	Class   session.Class `json:"class"`
	Message string        `json:"message"`
	Hint    string        `json:"hint,omitempty"`
}

// Err is the refusal as an error.
func (r Refusal) Err() error {
	return &session.Error{Class: r.Class, Msg: r.Message, Hint: r.Hint}
}

// RefusalOf is err as a refusal.
func RefusalOf(err error) Refusal {
	return Refusal{session.ClassOf(err), err.Error(), session.HintOf(err)}
}

// RoleChange tells a host what it is now.
type RoleChange struct {
	Keyboard bool `json:"keyboard"`
	Size     Size `json:"size"` // of the client's terminal; a mirror takes it on
	// Holder describes who has the keyboard, when it is not this host.
	Holder string `json:"holder,omitempty"`
}

// Ending tells hosts how the client ended.
type Ending struct {
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
	Code    int    `json:"code"` // exit status, 128+signal for a signal
	Message string `json:"message"`
	Next    bool   `json:"next"`                  // another client of the run follows: stay
	AgainMS int64  `json:"again_in_ms,omitempty"` // how long until it starts, in milliseconds
}

// EndingOf tells the recorded end of a client.
func EndingOf(e clients.End, next bool) Ending {
	return Ending{Outcome: string(e.Outcome), Reason: e.Reason, Code: e.Status(), Message: e.Text(), Next: next}
}

// Watchers is how many operators look at a tmux host's pane, and where one of them is.
type Watchers struct {
	Count int    `json:"count"`
	TTY   string `json:"tty,omitempty"`
}

// Why a host leaves. Silence means it crashed.
const (
	LeaveDetach = "detach"
	LeaveHangup = "hangup"

	LeaveSuspended = "suspended" // of Begone: ctrl-Z stopped the client, which was continued
	LeaveMoved     = "moved"     // of Begone: somebody else has the keyboard now
)

// Leaving says why a host goes.
type Leaving struct {
	Reason string `json:"reason"`
	To     string `json:"to,omitempty"` // of LeaveMoved: who, where and since when
}

// Snapshot is what a tmux pane shows.
type Snapshot struct {
	Rows [][]byte `json:"rows"` // with attributes as escape sequences
	X    int      `json:"x"`    // of the cursor, from 0
	Y    int      `json:"y"`
	Size Size     `json:"size"`
	Err  string   `json:"err,omitempty"` // why there is none
}

// Decode reads a JSON payload into v.
func Decode(t Type, payload []byte, v any) error {
	if err := json.Unmarshal(payload, v); err != nil {
		return fmt.Errorf("bad %q frame: %w", byte(t), err)
	}
	return nil
}

// Negotiate chooses the protocol to use with a peer that speaks from min to max.
func Negotiate(min, max int) (int, error) {
	if max < MinVersion || min > Version {
		return 0, session.Errorf(session.Failed, "the other side speaks protocol %d to %d, this berth %d to %d", min, max, MinVersion, Version).
			WithHint("restart the session with the berth that is installed now: berth restart ID")
	}
	if max > Version {
		return Version, nil
	}
	return max, nil
}

// Match refuses a greeting that is about another run, boot, supervisor or native
// id than ours.
func Match(ours, theirs Greeting) error {
	for _, c := range []struct{ what, a, b string }{
		{"run", ours.Run, theirs.Run},
		{"boot", ours.Boot, theirs.Boot},
		{"native id", ours.NativeID, theirs.NativeID},
	} {
		if c.a != "" && c.b != "" && c.a != c.b {
			return session.Errorf(session.Stale, "the %s is %s here and %s there: it changed under you", c.what, c.a, c.b)
		}
	}
	if a, b := ours.Supervisor, theirs.Supervisor; !a.IsZero() && !b.IsZero() && a != b {
		return session.Errorf(session.Stale, "the supervisor is %s here and %s there: it changed under you", a, b)
	}
	return nil
}
