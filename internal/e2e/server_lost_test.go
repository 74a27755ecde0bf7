//go:build linux

package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"berth/internal/session"
	"berth/manifest"
)

// The tmux server goes, killed or told to, again and again while the agents of ten
// sessions write: no agent dies, one event tells it and names all ten, and each can
// be attached again.
func TestServerLostUnderTenSessions(t *testing.T) { // not beside others: it is about who gets time
	const sessions = 10
	w := newWorld(t)
	w.shell(`echo "agent $BERTH_SESSION_ID"; i=0; while :; do i=$((i+1)); echo "line $i of $BERTH_SESSION_ID"; sleep 0.05; done`)
	var rs []session.Record
	for range sessions {
		rs = append(rs, w.run("new", "it", "--json").want(0).record())
	}
	for round := range soak(2, 200) {
		for _, r := range rs {
			w.eventually("its pane's host has joined", func() bool { return len(w.show(r.ID).Hosts) == 1 })
		}
		before := w.serversLost()
		server := w.tmuxServer()
		if round%2 == 0 {
			kill(t, server, syscall.SIGKILL)
		} else {
			w.tmuxSays("kill-server")
		}
		for _, r := range rs {
			w.eventually("its pane's host is gone", func() bool { return len(w.show(r.ID).Hosts) == 0 })
		}
		var after []manifest.Event
		var show []string
		w.soon("wrong with the event", func() bool {
			after = w.serversLost()[len(before):]
			show = []string{fmt.Sprintf("round %d, server %d: %+v", round, server, after)}
			return len(after) > 0 && len(after[0].Detail["sessions"].([]any)) == sessions
		}, &show)
		if len(after) != 1 || !strings.HasPrefix(fmt.Sprint(after[0].Detail["server"]), fmt.Sprintf("%d-", server)) {
			t.Fatalf("round %d: server %d: %+v", round, server, after)
		}
		for _, r := range rs {
			now := w.show(r.ID)
			if now.Client == nil || now.Client.PID != r.Client.PID || !alive(r.Client.PID) {
				t.Fatalf("round %d: %s: client %+v, was %+v", round, r.ID, now.Client, r.Client)
			}
			if out := w.run("capture", r.ID).want(0).out; !strings.Contains(out, " of "+r.ID) {
				t.Fatalf("round %d: the screen of %s:\n%s", round, r.ID, out)
			}
		}
	}
	x := w.open("attach", rs[0].ID)
	x.waitFor(" of " + rs[0].ID)
	x.hangUp()
	w.run("stop", "--all").want(0)
	w.nothingRuns()
}

// serversLost are the events that tell of a lost tmux server.
func (w *world) serversLost() []manifest.Event {
	w.t.Helper()
	var lost []manifest.Event
	for _, e := range events(w.t, w.run("events").want(0).out) {
		if e.Event == manifest.EventServerLost {
			lost = append(lost, e)
		}
	}
	return lost
}
