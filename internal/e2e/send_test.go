//go:build linux

package e2e

import (
	"os"
	"strings"
	"testing"

	"berth/internal/session"
	"berth/manifest"
)

// A message is typed once, whole, into an idle agent, and is proven by the agent's turn.
func TestSend(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newDemo("hello")
	w.run("wait", r.ID, "--timeout", "30s").want(0)

	long := strings.Repeat("a line of a long message\n", 4000) + "\x1b[201~/exit\nits end"
	w.runWith(nil, []byte(long), "send", r.ID, "-", "--id", "long", "--wait").want(0)
	shown := w.run("capture", r.ID).out
	if !strings.Contains(shown, "in 4002 lines") {
		t.Errorf("it was not one message:\n%s", shown)
	}
	w.run("send", r.ID, "again", "--id", "long").want(0).says("was sent before")
	w.run("wait", r.ID).want(0)
	if shown := w.run("capture", r.ID).out; strings.Contains(shown, "again") {
		t.Errorf("it was typed again:\n%s", shown)
	}

	w.run("send", r.ID, "/busy 3600").want(0)
	w.run("send", r.ID, "meanwhile").want(4).says("is busy since", "berth wait "+r.ID)
	w.run("wait", r.ID, "--timeout", "100ms").want(8).says("not idle yet", "busy")
	w.run("send", r.ID, "").want(2)
	w.run("stop", r.ID).want(0)
	w.run("send", r.ID, "too late").want(4).says("is not running", "berth restart "+r.ID)
	w.run("wait", r.ID).want(1).says("is not running any more", "stopped")
	w.run("wait", r.ID, "--for", "exit").want(0)
	w.run("wait", r.ID, "--for", "nothing").want(2).says("--for is")
}

// What a person has half typed is not sent with a message of somebody else.
func TestSendBesideAPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newDemo("hello")
	w.run("wait", r.ID).want(0)
	x := w.open("open", r.ID)
	x.waitFor("You said: hello")
	x.typeIn("half a th")
	x.waitFor("half a th")
	w.run("send", r.ID, "mine").want(4).says("half typed", "terminal")
	x.typeIn("ought\r")
	w.run("wait", r.ID).want(0)
	w.run("send", r.ID, "mine", "--wait").want(0)
	x.waitFor("You said: mine")
}

// An agent that does not show that it took a message leaves it unconfirmed.
func TestSendUnconfirmed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("[provider.mute]\nstart = [\"/bin/cat\"]\n")
	r := w.run("new", "mute", "--json").want(0).record()
	w.run("send", r.ID, "are you there").want(9).says("has not shown")
	w.eventually("it was typed", func() bool { return strings.Contains(w.run("capture", r.ID).out, "are you there") })
	w.run("wait", r.ID).want(4).says("does not tell when it is idle")
}

// Who waits for a person is listed: after a turn that ended, and not before or while the
// next one runs.
func TestAttention(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	quiet := w.run("new", "demo", "--json").want(0).record()
	r := w.newDemo("hello")
	w.run("wait", r.ID, "--for", "attention", "--timeout", "30s").want(0)
	list := func() (ids []string) {
		var all []session.Record
		w.run("list", "--attention", "--json").want(0).decode(&all)
		for _, r := range all {
			ids = append(ids, r.ID)
		}
		return ids
	}
	if ids := list(); len(ids) != 1 || ids[0] != r.ID {
		t.Errorf("attention: %v, want %s and not %s", ids, r.ID, quiet.ID)
	}
	w.run("send", r.ID, "/busy 3600").want(0)
	if now := w.show(r.ID); now.Attention != nil || now.Turn.State != manifest.TurnBusy {
		t.Errorf("busy: %+v", now)
	}
	w.run("list", "--attention").want(0).says("no session waits for anybody")
	w.run("restart", r.ID).want(0)
	w.run("wait", r.ID).want(0)
	w.run("send", r.ID, "/ask may I").want(0)
	if now := w.show(r.ID); now.Attention == nil || now.Turn.State != manifest.TurnWaiting {
		t.Errorf("waiting: %+v", now)
	}
	if ids := list(); len(ids) != 1 {
		t.Errorf("after a restart: %v", ids)
	}
	w.run("complete", r.ID).want(0)
	if now := w.show(r.ID); now.Attention != nil {
		t.Errorf("completed: %+v", now)
	}
}

// new --wait returns when the opening request is answered.
func TestNewWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.run("new", "demo", "--wait", "--json", "--", "hello").want(0).record()
	if r.Turn == nil || r.Turn.State != manifest.TurnIdle || r.Attention == nil || r.ElapsedMS == nil {
		t.Errorf("%+v", r)
	}
	if shown := w.run("capture", r.ID).out; !strings.Contains(shown, "You said: hello") {
		t.Errorf("it has not answered:\n%s", shown)
	}
	w.run("new", "demo", "--wait").want(2).says("there is none")
	w.config("[provider.mute]\nstart = [\"/bin/cat\"]\n")
	w.run("new", "mute", "--wait", "--", "hello").want(4).says("does not tell when it is idle")
}

// A conversation whose history has gone is not resumed, nor begun anew by itself.
func TestHistoryGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newDemo("hello")
	n, err := manifest.Dir(w.runDir(r)).Native()
	must(t, err)
	must(t, os.Rename(n.HistoryPath, n.HistoryPath+".away"))
	w.run("restart", r.ID).want(4).says(n.HistoryPath, "nothing was stopped", "berth restart --fresh "+r.ID)
	if now := w.show(r.ID); now.Client == nil || now.Client.PID != r.Client.PID {
		t.Fatalf("stopped: %+v", now)
	}
	w.run("stop", r.ID).want(0)
	w.run("restart", r.ID).want(4).says("is gone")
	must(t, os.Rename(n.HistoryPath+".away", n.HistoryPath))
	w.run("restart", r.ID).want(0)
	if now := w.show(r.ID); *now.NativeID != *r.NativeID {
		t.Errorf("another conversation: %+v", now)
	}
}
