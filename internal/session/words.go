package session

// Kinds of session.
const (
	Conversation = "conversation"
	Flow         = "flow" // a review: a human step of a flow
)

// State is what a session is, as lists show it.
type State string

// The states (wire/session.json).
const (
	StateUnknown     State = "unknown"     // no client, and nothing says why: it opens again
	StateWaiting     State = "waiting"     // a review without a live client
	StateActive      State = "active"      // a live client
	StateReady       State = "ready"       // it waits for a verdict
	StateClosed      State = "closed"      // completed
	StateInterrupted State = "interrupted" // its client was ended by something nobody asked for
)

// Phase is how far the newest client of a run has come.
type Phase string

// The phases, in the order a start goes through them.
const (
	PhaseUnknown Phase = "unknown"
	Starting     Phase = "starting"   // no receipt yet
	Running      Phase = "running"    // receipt
	Identified   Phase = "identified" // native id
	Blocked      Phase = "blocked"    // it asks something before it takes a message
	Resumable    Phase = "resumable"  // history recorded
	Ended        Phase = "ended"      // no live client
)

// NothingSaid is the reason of a conversation whose provider records nothing before
// its first message: it is not resumable, and waiting will not make it so.
const NothingSaid = "nothing said yet"

// Who holds a session.
const (
	HeldByTerminal = "terminal"
	HeldByTmux     = "tmux"
)

// AttentionReply is the attention of a session that waits for a person to answer.
const AttentionReply = "reply"

// Title sources. A generated title never replaces a human one.
const (
	TitleHuman       = "human"
	TitleGenerated   = "generated"
	TitleUnavailable = "unavailable"
)

// Evidence is what a session's state is worked out from.
type Evidence struct {
	Kind        string
	Closed      bool
	Ready       bool
	Live        bool // a live client
	Interrupted bool // the newest client was ended by something nobody asked for
}

// StateOf is the state that the evidence means (DESIGN: completed, then ready, then
// a live client, and so on; the first that holds).
func StateOf(e Evidence) State {
	switch {
	case e.Closed:
		return StateClosed
	case e.Ready:
		return StateReady
	case e.Live:
		return StateActive
	case e.Interrupted:
		return StateInterrupted
	case e.Kind == Flow:
		return StateWaiting
	}
	return StateUnknown
}
