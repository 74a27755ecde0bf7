package demo

import (
	"berth/manifest"
)

// announcer tells the supervisor what the agent is doing, or does not, as the flags
// have it.
type announcer struct {
	runDir  string // "" without berth
	silent  bool
	hideID  bool
	holding bool // --late: keep what is said until release
	held    []manifest.Announcement
}

// say announces a. Failures are nobody's business: the chat goes on without berth.
func (n *announcer) say(a manifest.Announcement) {
	if n.runDir == "" || n.silent {
		return
	}
	if n.holding {
		n.held = append(n.held, a)
		return
	}
	if n.hideID {
		a.NativeID, a.HistoryPath = "", ""
	}
	a.Provider, a.Source = "demo", "agent"
	manifest.Announce(n.runDir, a) //nolint:errcheck // see above
}

// release says what was held back, and holds nothing from now on.
func (n *announcer) release() {
	n.holding = false
	for _, a := range n.held {
		n.say(a)
	}
	n.held = nil
}
