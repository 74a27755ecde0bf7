//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const request = "the opening request"

// launchCrash is one place in a launch and one process killed there.
type launchCrash struct {
	name  string
	point string
	dies  string // "command", "supervisor", "gate", "host" or "agent"

	exit  []int    // how the launching command may end, if it was not the one killed
	phase []string // what show may say then
	lives bool     // an agent whose terminal is gone is left: only a restart helps
	typed bool     // the request may have been typed at the agent that died: never again
}

var launchCrashes = []launchCrash{
	{name: "recorded, not published", point: "command.row", dies: "command", phase: []string{"starting"}},
	{name: "published, not claimed", point: "command.published", dies: "command", phase: []string{"starting"}},
	{name: "claimed, no supervisor", point: "command.claimed", dies: "command", phase: []string{"starting"}},
	{name: "supervisor without its spec, command dies", point: "launcher.supervisor-started", dies: "command", phase: []string{"starting"}},
	{name: "supervisor without its spec, supervisor dies", point: "launcher.supervisor-started", dies: "supervisor", exit: []int{1}, phase: []string{"starting"}},
	{name: "claim taken, command dies", point: "supervisor.claimed", dies: "command", phase: []string{"starting", "resumable"}},
	{name: "claim taken, supervisor dies", point: "supervisor.claimed", dies: "supervisor", exit: []int{1}, phase: []string{"starting"}},
	{name: "gate without receipt, command dies", point: "supervisor.gate-spawned", dies: "command", phase: []string{"starting", "resumable"}},
	{name: "gate without receipt, supervisor dies", point: "supervisor.gate-spawned", dies: "supervisor", exit: []int{1}, phase: []string{"starting"}},
	{name: "gate without receipt, gate dies", point: "supervisor.gate-spawned", dies: "gate", exit: []int{1}, phase: []string{"ended"}},
	// On a busy machine the supervisor has told the gate to open before it dies.
	{name: "gate at its first step, supervisor dies", point: "gate.spawned", dies: "supervisor", exit: []int{1}, phase: []string{"ended", "starting", "resumable"}},
	{name: "gate at its first step, gate dies", point: "gate.spawned", dies: "gate", exit: []int{1}, phase: []string{"ended"}},
	{name: "receipt, gate shut, command dies", point: "supervisor.receipt", dies: "command", phase: []string{"resumable"}},
	{name: "receipt, gate shut, supervisor dies", point: "supervisor.receipt", dies: "supervisor", exit: []int{1}, phase: []string{"ended"}},
	{name: "receipt, gate shut, gate dies", point: "supervisor.receipt", dies: "gate", exit: []int{1}, phase: []string{"ended"}},
	{name: "launch over, gate shut, command dies", point: "supervisor.may-open", dies: "command", phase: []string{"resumable"}},
	{name: "launch over, gate shut, supervisor dies", point: "supervisor.may-open", dies: "supervisor", exit: []int{1}, phase: []string{"ended"}},
	{name: "launch over, gate shut, gate dies", point: "supervisor.may-open", dies: "gate", exit: []int{1}, phase: []string{"ended"}},
	{name: "gate open, command dies", point: "supervisor.opened", dies: "command", phase: []string{"resumable"}},
	{name: "gate open, supervisor dies", point: "supervisor.opened", dies: "supervisor", exit: []int{1}, phase: []string{"resumable"}, lives: true},
	{name: "gate open, agent dies", point: "supervisor.opened", dies: "agent", exit: []int{0, 1}, phase: []string{"ended"}, typed: true},
	{name: "tmux session made, command dies", point: "command.tmux-session", dies: "command", phase: []string{"resumable"}},
	{name: "tmux session made, supervisor dies", point: "command.tmux-session", dies: "supervisor", exit: []int{0, 1}, phase: []string{"resumable"}, lives: true},
	{name: "tmux session made, host dies", point: "command.tmux-session", dies: "host", exit: []int{0}, phase: []string{"resumable"}},
	{name: "tmux session made, agent dies", point: "command.tmux-session", dies: "agent", exit: []int{0, 1}, phase: []string{"ended"}},
}

// A launch in which any process is killed between any two steps leaves a state that
// the next command names, and that open or restart settles: with one client at most
// at every instant, the request sent once, and nothing left when it is stopped.
func TestLaunchCrash(t *testing.T) {
	t.Parallel()
	for _, c := range launchCrashes {
		for _, next := range []string{"open", "restart", "a restart that waited"} {
			if next == "a restart that waited" && c.point == "command.tmux-session" {
				continue // the launch is over: nothing to wait for
			}
			t.Run(c.name+", then "+next, func(t *testing.T) {
				t.Parallel()
				c.run(newWorld(t), next)
			})
		}
	}
}

func (c launchCrash) run(w *world, next string) {
	w.unguardedAgent()
	release := filepath.Join(filepath.Dir(w.home), "release")
	arm := "BERTHTEST_POINT=" + c.point + "=wait:" + release
	launching := w.start([]string{arm}, "new", "unguarded", "--json", "--", request)
	w.eventually("the launch reaches "+c.point, func() bool { return exists(release + ".here") })
	id := w.onlySession().ID

	var waiting *background
	if next == "a restart that waited" {
		waiting = w.start(nil, "restart", id)
		w.eventually("restart waits for the launch", func() bool { return waitsForLock(w.t, waiting.cmd.Process.Pid) })
	}
	switch c.dies {
	case "command":
		w.killed(launching.cmd.Process.Pid)
	case "supervisor":
		if c.lives {
			w.theAgent()
			w.eventually("the agent is up", func() bool { return len(agentLog(w.agentLogPath(), "start")) == 1 })
		}
		w.killed(w.theSupervisor())
	case "gate":
		w.killed(w.theGate(arm))
	case "host":
		w.killed(w.theHost())
	case "agent":
		w.killed(w.theAgent())
	default:
		w.t.Fatalf("nobody is called %q", c.dies)
	}
	if err := os.WriteFile(release, nil, 0o600); err != nil {
		w.t.Fatal(err)
	}
	if c.dies != "command" {
		r := launching.wait()
		if waiting != nil && r.code == 0 {
			// The restart was quicker: what it waited for to be resumable is.
		} else if !slices.Contains(c.exit, r.code) {
			w.t.Fatalf("new: exit %d, want one of %v\n%s%s", r.code, c.exit, r.out, r.errOut)
		}
	}
	if waiting != nil {
		waiting.wait().want(0)
		// A first client that came up was ended by this restart, perhaps with the
		// request typed and not yet heard.
		w.goesOn(id, arm, c.typed || w.starts() > 1)
		return
	}

	phase := []string{""}
	w.soon("but a phase of "+strings.Join(c.phase, " or "), func() bool {
		phase[0] = string(w.run("show", id, "--json").want(0).record().Phase)
		return slices.Contains(c.phase, phase[0])
	}, &phase)
	if r := w.onlySession(); string(r.Phase) == "" {
		w.t.Fatalf("list does not name the state: %+v", r)
	}
	// One that went out just before whoever was to type or hear it died may not have been
	// heard, and is not sent again.
	typed := c.typed || (c.dies == "supervisor" || c.dies == "agent") && exists(filepath.Join(w.runDir(w.show(id)), "prompt-sent"))
	if next == "open" {
		now := w.show(id)
		w.opens(id, c.lives || now.Client != nil && now.Supervisor == nil)
	} else {
		w.run("restart", id).want(0)
	}
	w.goesOn(id, arm, typed)
}

// opens joins the session from a terminal and leaves it again. An agent whose
// terminal is gone cannot be joined: that is refused, and --replace does.
func (w *world) opens(id string, orphan bool) {
	w.t.Helper()
	x := w.open("open", id)
	if orphan {
		if code := x.wait(); code != 4 || !strings.Contains(x.all(), "berth open --replace "+id) {
			w.t.Fatalf("open of an orphan: exit %d\n%s", code, x.all())
		}
		x = w.open("open", "--replace", id)
	}
	x.waitFor("unguarded>")
	x.typeIn("\x1c")
	if code := x.wait(); code != 0 {
		w.t.Fatalf("open: exit %d\n%s", code, x.all())
	}
}

// goesOn checks that a session lives on after a crash with one client that has heard
// its request once (or never, if it was typed at one that died), and that stopping it
// leaves nothing.
func (w *world) goesOn(id, arm string, typed bool) {
	w.t.Helper()
	r := w.show(id)
	if !r.Resumable || r.Client == nil || r.Supervisor == nil || r.State != "active" {
		w.t.Fatalf("it does not go on: %+v", r)
	}
	if !typed {
		w.eventually("the request is heard", func() bool { return w.heard(request) > 0 })
	}
	if n := len(pids(w.marks(), w.agentLogPath())); n != 1 {
		w.t.Fatalf("%d agents run", n)
	}
	w.run("stop", id).want(0)
	w.neverTwo(request)
	w.nothingRuns(arm)
}

// onlySession is the one session that list shows.
func (w *world) onlySession() (one struct{ ID, State, Phase string }) {
	w.t.Helper()
	var list []struct{ ID, State, Phase string }
	w.run("list", "--json").want(0).decode(&list)
	if len(list) != 1 {
		w.t.Fatalf("not one session: %+v", list)
	}
	return list[0]
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
