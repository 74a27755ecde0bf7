//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// endCrash is one place in the ending of a session and one process killed there.
type endCrash struct {
	name  string
	verb  []string // the command that ends it
	point string
	dies  string // "command" or "supervisor"
	lost  bool   // the supervisor is killed before the command runs: it has to take over

	phase  []string // what show may say then
	closed bool     // the command goes on by itself and closes the session
}

var endCrashes = []endCrash{
	{name: "stop requested, command dies", verb: []string{"stop"}, point: "command.requested", dies: "command", phase: []string{"ended"}},
	{name: "stop requested, supervisor dies", verb: []string{"stop"}, point: "command.requested", dies: "supervisor", phase: []string{"ended"}},
	{name: "stop accepted, command dies", verb: []string{"stop"}, point: "supervisor.ending", dies: "command", phase: []string{"ended"}},
	{name: "stop accepted, supervisor dies", verb: []string{"stop"}, point: "supervisor.ending", dies: "supervisor", phase: []string{"ended"}},
	{name: "stop takes over, command dies", verb: []string{"stop"}, point: "command.taking-over", dies: "command", lost: true, phase: []string{"resumable"}},
	{name: "restart requested, command dies", verb: []string{"restart"}, point: "command.requested", dies: "command", phase: []string{"ended"}},
	{name: "restart requested, supervisor dies", verb: []string{"restart"}, point: "command.requested", dies: "supervisor", phase: []string{"resumable"}},
	{name: "restart accepted, command dies", verb: []string{"restart"}, point: "supervisor.ending", dies: "command", phase: []string{"ended"}},
	{name: "restart accepted, supervisor dies", verb: []string{"restart"}, point: "supervisor.ending", dies: "supervisor", phase: []string{"resumable"}},
	{name: "restart takes over, command dies", verb: []string{"restart"}, point: "command.taking-over", dies: "command", lost: true, phase: []string{"resumable"}},
	{name: "complete requested, command dies", verb: []string{"complete"}, point: "command.requested", dies: "command", phase: []string{"ended"}},
	{name: "complete requested, supervisor dies", verb: []string{"complete"}, point: "command.requested", dies: "supervisor", phase: []string{"ended"}, closed: true},
	{name: "complete accepted, supervisor dies", verb: []string{"complete"}, point: "supervisor.ending", dies: "supervisor", phase: []string{"ended"}, closed: true},
	{name: "complete answered, supervisor dies", verb: []string{"complete"}, point: "supervisor.answered", dies: "supervisor", phase: []string{"ended"}, closed: true},
}

// An ending in which the command or the supervisor is killed leaves a state that the
// next command names, and that open or restart settles: never two clients, and
// nothing left when it is stopped.
func TestEndCrash(t *testing.T) {
	t.Parallel()
	for _, c := range endCrashes {
		for _, next := range []string{"open", "restart", "a restart that waited"} {
			t.Run(c.name+", then "+next, func(t *testing.T) {
				t.Parallel()
				c.run(newWorld(t), next)
			})
		}
	}
}

func (c endCrash) run(w *world, next string) {
	w.unguardedAgent()
	release := filepath.Join(filepath.Dir(w.home), "release")
	arm := "BERTHTEST_POINT=" + c.point + "=wait:" + release
	r := w.newUnguarded([]string{arm})
	if c.lost {
		w.killed(r.Supervisor.PID)
	}
	ending := w.start([]string{arm}, append(c.verb, r.ID)...)
	w.eventually("the end reaches "+c.point, func() bool { return exists(release + ".here") })

	var waiting *background
	if next == "a restart that waited" {
		waiting = w.start(nil, "restart", r.ID)
		w.eventually("restart waits for the end", func() bool { return waitsForLock(w.t, waiting.cmd.Process.Pid) })
	}
	switch c.dies {
	case "command":
		w.killed(ending.cmd.Process.Pid)
	case "supervisor":
		w.killed(r.Supervisor.PID)
	default:
		w.t.Fatalf("nobody is called %q", c.dies)
	}
	if err := os.WriteFile(release, nil, 0o600); err != nil {
		w.t.Fatal(err)
	}
	if c.dies != "command" {
		r := ending.wait()
		if waiting == nil || r.code != 6 { // else the waiting one was quicker to end what this one had restarted
			r.want(0)
		} else {
			r.says("ended before it could be resumed: restarted by berth restart")
		}
	}
	switch {
	case c.closed:
		if waiting != nil {
			waiting.wait().want(4).says("was completed")
		}
		w.isClosed(r.ID, arm)
		return
	case waiting != nil:
		waiting.wait().want(0)
		w.goesOn(r.ID, arm, false)
		return
	}
	phase := ""
	w.soon("but a phase of "+strings.Join(c.phase, " or "), func() bool {
		phase = string(w.run("show", r.ID, "--json").want(0).record().Phase)
		return slices.Contains(c.phase, phase)
	}, &[]string{phase})
	if next == "open" {
		w.opens(r.ID, c.lost)
	} else {
		w.run("restart", r.ID).want(0)
	}
	w.goesOn(r.ID, arm, false)
}

// isClosed checks that a session is completed for good and nothing of it runs.
func (w *world) isClosed(id, arm string) {
	w.t.Helper()
	if r := w.show(id); r.State != "closed" || r.Client != nil {
		w.t.Fatalf("not closed: %+v", r)
	}
	w.run("restart", id).want(4)
	w.neverTwo(request)
	w.nothingRuns(arm)
}

// Any one process of a running session is killed from outside: the others go on or
// end, the state says which, and the session can be taken up again.
func TestKilledWhileRunning(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		kill   func(w *world) int
		state  string
		orphan bool // the agent lives and cannot be joined
	}{
		{"the host: the agent runs on", (*world).theHost, "active", false},
		{"the agent: interrupted, and resumed by open", (*world).theAgent, "interrupted", false},
		{"the supervisor: the agent's terminal is gone", (*world).theSupervisor, "active", true},
		{"the tmux server: the agent runs on", (*world).tmuxServer, "active", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.unguardedAgent()
			r := w.newUnguarded(nil)
			w.eventually("hosted by its pane", func() bool { return len(w.show(r.ID).Hosts) == 1 })
			w.killed(c.kill(w))
			w.eventually(c.state, func() bool { return string(w.show(r.ID).State) == c.state })
			w.opens(r.ID, c.orphan)
			w.run("restart", r.ID).want(0)
			w.goesOn(r.ID, w.marks(), false)
		})
	}
}
