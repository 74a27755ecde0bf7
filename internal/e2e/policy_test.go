//go:build linux

package e2e

import (
	"syscall"
	"testing"

	"berth/internal/session"
	"berth/manifest"
)

// super is what the supervisor of a session says of itself.
func (w *world) super(r session.Record) manifest.Supervisor {
	w.t.Helper()
	s, err := manifest.Dir(w.runDir(r)).Supervisor()
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// A client that is killed comes back by policy, in the same conversation and under
// the same supervisor; one that a person quit or stopped does not.
func TestPolicyBringsTheConversationBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.run("new", "demo", "--restart", "on-failure", "--json", "--", "come back").want(0).record()
	syscall.Kill(r.Client.PID, syscall.SIGKILL)
	w.eventually("another client", func() bool {
		now := w.show(r.ID)
		return now.Client != nil && now.Client.PID != r.Client.PID
	})
	again := w.show(r.ID)
	if again.Supervisor.PID != r.Supervisor.PID || *again.NativeID != *r.NativeID || again.Run != r.Run {
		t.Fatalf("%+v", again)
	}
	w.run("stop", r.ID).want(0)
	if now := w.show(r.ID); now.Client != nil || now.Supervisor != nil {
		t.Fatalf("after stop: %+v", now)
	}

	w.run("restart", r.ID).want(0)
	x := w.open("open", r.ID)
	x.waitFor("come back")
	x.typeIn("/exit\r")
	if code := x.wait(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	w.eventually("no client after a person's own exit", func() bool { return w.show(r.ID).Client == nil })
	if marked := marked("BERTH_RUN_ID=" + r.Run); len(marked) != 0 {
		t.Fatal(marked)
	}
}

// A client that fails at once, again and again, is held after five failures; stop
// during the back-off keeps it stopped, restart clears the counter.
func TestPolicyBacksOffAndAPersonIsQuicker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.run("new", "demo", "--restart", "always", "--json", "--", "hello").want(0).record()
	syscall.Kill(r.Client.PID, syscall.SIGKILL)
	w.eventually("it backs off", func() bool { return w.super(r).Phase == "backoff" })
	w.run("stop", r.ID).want(0)
	if s := w.super(r); s.Phase != "ended" {
		t.Fatalf("after a stop in the back-off: %+v", s)
	}

	w.run("restart", r.ID).want(0)
	if s := w.super(r); s.Restarts.Count != 0 {
		t.Fatalf("restart keeps the failures: %+v", s.Restarts)
	}
	syscall.Kill(w.show(r.ID).Client.PID, syscall.SIGKILL)
	w.eventually("it backs off again", func() bool { return w.super(r).Phase == "backoff" })
	w.run("restart", r.ID).want(0)
	if now := w.show(r.ID); now.Client == nil || *now.NativeID != *r.NativeID {
		t.Fatalf("a restart in the back-off: %+v", now)
	}
}
