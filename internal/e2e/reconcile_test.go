package e2e

import (
	"strings"
	"syscall"
	"testing"

	"berth/internal/control"
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
