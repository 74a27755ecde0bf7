//go:build linux

package e2e

import (
	"strings"
	"testing"
)

// Move here: the client runs on, half-typed words come along, and the place it was
// moved from says where it went and ends 0.
func TestMoveTakesKeyboardScreenAndHalfTypedWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newDemo("first words")
	a := w.open("open", r.ID)
	a.waitFor("You said: first words")
	a.typeIn("half a mess")
	a.waitFor("half a mess")

	b := w.open("move", r.ID)
	b.waitFor("half a mess")
	if code := a.wait(); code != 0 {
		t.Fatalf("the old place ends %d\n%s", code, a.screen())
	}
	if s := a.screen(); !strings.Contains(s, "was moved to terminal") {
		t.Fatalf("the old place says: %s", s)
	}
	b.typeIn("age\r")
	b.waitFor("You said: half a message")
	now := w.show(r.ID)
	if now.Client == nil || now.Client.PID != r.Client.PID || now.HeldBy == nil || *now.HeldBy != "terminal" {
		t.Fatalf("after the move: %+v", now)
	}
	b.typeIn("\x1c")
	b.wait()
}

// Replace: the old client ends, the conversation is resumed in a new one here, and
// the old place ends 0.
func TestReplaceResumesHere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newDemo("keep this")
	a := w.open("open", r.ID)
	a.waitFor("keep this")
	b := w.open("open", r.ID, "--replace")
	b.waitFor("keep this")
	if code := a.wait(); code != 0 || !strings.Contains(a.screen(), "moved by berth open") {
		t.Fatalf("the old place ends %d\n%s", code, a.screen())
	}
	w.eventually("the new client is held here", func() bool {
		now := w.show(r.ID)
		return now.Client != nil && now.Client.PID != r.Client.PID && *now.NativeID == *r.NativeID && now.HeldBy != nil
	})
	if alive(r.Client.PID) {
		t.Fatal("the old client lives")
	}
	b.typeIn("\x1c")
	b.wait()
	w.eventually("the pane's host has joined the new client", func() bool {
		now := w.show(r.ID)
		return len(now.Hosts) == 1 && now.Hosts[0].Kind == "tmux"
	})
}
