//go:build linux

package e2e

import (
	"slices"
	"strings"
	"testing"
)

// contender is a command that wants a session, held at a named point on its way: in
// the command itself, or in what it starts, or in the supervisor that it asks.
type contender struct {
	verb  []string // the session's id follows
	point string
}

func (c contender) String() string { return strings.Join(c.verb, " ") + " at " + c.point }

// contenders are those of a session in one state, with the points they pass.
func contenders(verbs [][]string, points ...string) (all []contender) {
	for _, v := range verbs {
		for _, p := range points {
			all = append(all, contender{v, p})
		}
	}
	return all
}

var contests = []struct {
	state      string // of the session when they come
	contenders []contender
}{
	{"stopped", contenders([][]string{{"open"}},
		"command.claimed", "launcher.supervisor-started", "supervisor.claimed", "supervisor.gate-spawned", "gate.spawned",
		"supervisor.receipt", "supervisor.may-open", "supervisor.opened", "command.tmux-session")},
	{"running", slices.Concat(
		contenders([][]string{{"open", "--move"}}, "supervisor.bringing", "supervisor.handed-over"),
		contenders([][]string{{"open", "--replace"}, {"restart"}, {"stop"}}, "command.requested", "supervisor.ending", "supervisor.answered"),
		contenders([][]string{{"open", "--replace"}}, "command.claimed", "supervisor.receipt"))},
	{"without a supervisor", contenders([][]string{{"open", "--replace"}, {"restart"}, {"stop"}}, "command.taking-over")},
}

// Two commands that want one session are held at every pair of points and released
// together: never two clients, never two holders, and the session goes on.
func TestTwoAtEveryPairOfPoints(t *testing.T) {
	t.Parallel()
	n := 0
	for _, c := range contests {
		for _, a := range c.contenders {
			for _, b := range c.contenders {
				if n++; n%soak(9, 1) != 0 {
					continue
				}
				t.Run(c.state+": "+a.String()+", "+b.String(), func(t *testing.T) {
					t.Parallel()
					contest(newWorld(t), c.state, a, b)
				})
			}
		}
	}
}

func contest(w *world, state string, a, b contender) {
	w.unguardedAgent()
	first, second := w.barrier("first"), w.barrier("second")
	arms := [2]string{first.arm(a.point), second.arm(b.point)}
	if a.point == b.point { // the second to come there finds it open, or not: either will do
		second, arms[1] = first, arms[0]
	}
	var running string // what the supervisor that is there already is armed with
	for _, arm := range arms {
		if strings.Contains(arm, "=supervisor.") && !strings.Contains(running, arm) && state == "running" &&
			!strings.Contains(arm, "supervisor.receipt") {
			running += " " + strings.TrimPrefix(arm, "BERTHTEST_POINT=")
		}
	}
	r := w.newUnguarded([]string{"BERTHTEST_POINT=" + strings.TrimSpace(running)})
	switch state {
	case "stopped":
		w.run("stop", r.ID).want(0)
	case "without a supervisor":
		w.killed(r.Supervisor.PID)
	}

	x := w.openWith([]string{arms[0]}, append(a.verb, r.ID)...)
	w.eventually("it is held", func() bool { // at the point of the second if that comes before in the same supervisor
		return exists(first.path+".here") || exists(second.path+".here")
	})
	y := w.openWith([]string{arms[1]}, append(b.verb, r.ID)...)
	w.eventually("the second is held, waits for the first, or is through", func() bool {
		return y.ended() || exists(second.path+".here") || waitsForLock(w.t, y.cmd.Process.Pid) || strings.Contains(y.all(), "waiting for that") ||
			strings.Contains(holds(w.t, y.cmd.Process.Pid), "socket:") || strings.Contains(y.screen(), "unguarded>") || len(w.show(r.ID).Hosts) > 1
	})
	first.open()
	if second != first {
		second.open()
	}
	w.eventually("one of them has the session, or nobody", func() bool {
		w.oneHolder(r.ID)
		on := slices.DeleteFunc([]*tty{x, y}, func(x *tty) bool { return x.ended() || strings.Contains(x.screen(), "unguarded>") })
		return len(on) == 0 && (x.ended() || y.ended())
	})
	for _, x := range []*tty{x, y} {
		x.hangUp()
		if code := x.wait(); !slices.Contains([]int{-1, 0, 4, 6, 129}, code) {
			w.t.Errorf("%v ends %d:\n%s", x.cmd.Args[1:], code, x.all())
		}
	}
	w.neverTwo(request)
	if w.show(r.ID).Client == nil {
		w.run("restart", r.ID).want(0)
	}
	w.oneAfterTheOther(w.show(r.ID))
	w.goesOn(r.ID, w.marks(), false)
}
