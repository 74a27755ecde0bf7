//go:build linux

package e2e

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"berth/internal/control"
	"berth/internal/session"
)

func (w *world) reconcile(env ...string) map[string]control.Settled {
	w.t.Helper()
	var all []control.Settled
	w.runWith(env, nil, "reconcile", "--json").want(0).decode(&all)
	out := map[string]control.Settled{}
	for _, s := range all {
		out[s.Session] = s
	}
	return out
}

// After a crash reconcile records what nobody saw, makes what is missing, leaves the
// healthy alone, and finds nothing to do the second time.
func TestReconcileSettlesEachOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	healthy, crashed := w.newDemo("healthy"), w.newDemo("crashed")
	syscall.Kill(crashed.Supervisor.PID, syscall.SIGKILL)
	syscall.Kill(crashed.Client.PID, syscall.SIGKILL)
	w.eventually("both are gone", func() bool { return !alive(crashed.Supervisor.PID) && !alive(crashed.Client.PID) })

	found := w.reconcile()
	if s := found[healthy.ID]; len(s.Did) != 0 || s.Is != "active" {
		t.Errorf("healthy: %+v", s)
	}
	if s := found[crashed.ID]; len(s.Did) == 0 || s.Is != "interrupted" {
		t.Errorf("crashed: %+v", s)
	}
	if w.show(crashed.ID).LastEnd == nil {
		t.Error("the end of the crashed client is not on record")
	}
	for id, s := range w.reconcile() {
		if len(s.Did) != 0 {
			t.Errorf("second time, %s: %+v", id, s)
		}
	}
	if r := w.show(healthy.ID); r.Client == nil || r.Client.PID != healthy.Client.PID {
		t.Errorf("healthy client: %+v", r.Client)
	}
}

// A lost tmux server takes the screens with it; reconcile makes them again.
func TestReconcileMakesLostScreensAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newDemo("still here")
	server := w.tmuxServer()
	syscall.Kill(server, syscall.SIGKILL)
	w.eventually("the server is gone", func() bool { return !alive(server) })
	if s := w.reconcile()[r.ID]; len(s.Did) == 0 || s.Is != "active" {
		t.Fatalf("%+v", s)
	}
	w.eventually("its screen", func() bool { return strings.Contains(w.run("capture", r.ID).out, "still here") })
}

// After a reboot everything is interrupted; restart --interrupted brings each back to
// its own conversation, and leaves alone what a person stopped or quit.
func TestRestartInterruptedAfterAReboot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 4
	var before [n]session.Record
	for i := range before {
		before[i] = w.newDemo("conversation " + string(rune('a'+i)))
	}
	stopped := w.newDemo("stopped by hand")
	w.run("stop", stopped.ID).want(0)
	for _, r := range before { // the power goes: nobody writes an end
		syscall.Kill(r.Supervisor.PID, syscall.SIGKILL)
		syscall.Kill(r.Client.PID, syscall.SIGKILL)
	}
	reboot := []string{"BERTHTEST_VALUE=boot-id=after-the-reboot"}
	for _, r := range before {
		if now := w.runWith(reboot, nil, "show", r.ID, "--json").record(); now.State != "interrupted" {
			t.Fatalf("after the reboot: %+v", now)
		}
	}
	var back []session.Record
	w.runWith(reboot, nil, "restart", "--interrupted", "--json").want(0).decode(&back)
	if len(back) != n {
		t.Fatalf("%d sessions came back, want %d", len(back), n)
	}
	natives := map[string]string{}
	for _, r := range back {
		natives[r.ID] = *r.NativeID
	}
	for _, r := range before {
		if natives[r.ID] != *r.NativeID {
			t.Errorf("session %s came back as %s, was %s", r.ID, natives[r.ID], *r.NativeID)
		}
	}
	if again := w.runWith(reboot, nil, "restart", "--interrupted", "--json").want(0).out; strings.TrimSpace(again) != "[]" {
		t.Errorf("a second time: %s", again)
	}
	w.runWith(reboot, nil, "stop", "--all").want(0)
}

// A session that somebody restarts while restart --interrupted waits for it is left
// to them.
func TestRestartInterruptedLooksAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.unguardedAgent()
	r := w.newUnguarded(nil)
	w.killed(r.Client.PID)
	w.eventually("interrupted", func() bool { return w.show(r.ID).State == session.StateInterrupted })
	b := w.barrier("release")
	person := w.start([]string{b.arm("command.claimed")}, "restart", r.ID)
	b.reached()
	all := w.start(nil, "restart", "--interrupted")
	w.eventually("it waits for the person", func() bool { return waitsForLock(t, all.cmd.Process.Pid) })
	b.open()
	person.wait().want(0)
	client := w.show(r.ID).Client.PID
	if out := all.wait().want(0).out; !strings.Contains(out, "left alone") {
		t.Errorf("it says %q", out)
	}
	if now := w.show(r.ID).Client; now == nil || now.PID != client {
		t.Fatalf("client %+v, was %d", now, client)
	}
	w.goesOn(r.ID, w.marks(), false)
}

// What reconcile cannot do it does not claim to have done.
func TestReconcileWithoutTmux(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newDemo("hello")
	server := w.tmuxServer()
	w.killed(server)
	for _, c := range []struct {
		path      string
		did, left string
	}{
		{"/nowhere", "", "no tmux session"},
		{os.Getenv("PATH"), "made its tmux session again", ""},
	} {
		s := w.reconcile("PATH=" + c.path)[r.ID]
		if strings.Join(s.Did, "; ") != c.did || !strings.Contains(s.Left, c.left) || c.left == "" && s.Left != "" {
			t.Errorf("with PATH=%s: %+v", c.path, s)
		}
	}
	w.tmuxHost(r.ID)
}
