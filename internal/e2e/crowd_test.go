//go:build linux

package e2e

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// namedPID is a process that an open names as the one who has, or took, the session.
var namedPID = regexp.MustCompile(`\(pid (\d+)`)

// A crowd opens one session at once, each in its own way. There is never a second
// client nor a second holder; one gets it in the end, and every other is told by
// whom it was beaten.
func TestCrowdOpensOneSession(t *testing.T) { // not beside others: it is about who gets time
	w := newWorld(t)
	w.unguardedAgent()
	r := w.newUnguarded(nil)
	many := soak(12, 64)
	for round := range soak(3, 100) {
		var crowd []*tty
		for range many {
			mode := []string{"", "", "--move", "--move", "--move", "--try", "--replace"}[rand.IntN(7)]
			crowd = append(crowd, w.open(slices.DeleteFunc([]string{"open", r.ID, mode}, func(a string) bool { return a == "" })...))
		}
		settled := func() bool {
			w.oneHolder(r.ID)
			on := 0
			for _, x := range crowd {
				if !x.ended() {
					on++
				}
			}
			return on <= 1
		}
		w.eventually("one of them is left", settled)
		last := crowd[0]
		for _, x := range crowd {
			if !x.ended() {
				last = x
			}
		}
		if last.ended() {
			t.Fatalf("round %d: nobody has it\n%s", round, last.all())
		}
		last.waitFor("unguarded>")
		last.typeIn(fmt.Sprintf("round %d\r", round))
		last.waitFor(fmt.Sprintf("heard round %d", round))
		for _, x := range crowd {
			if x != last {
				x.lostTo(crowd)
			}
		}
		last.typeIn("\x1c")
		last.wait()
		for _, x := range crowd { // a machine has so many terminals
			x.hangUp()
		}
		w.neverTwo(request)
	}
	w.oneAfterTheOther(w.show(r.ID))
	w.goesOn(r.ID, w.marks(), false)
}

// lostTo checks that x ended as one who lost the session, and named who of the crowd
// had it.
func (x *tty) lostTo(crowd []*tty) {
	x.t.Helper()
	code := x.wait()
	moved := code == 0 && strings.Contains(x.all(), " was moved ")
	refused := code == 4 || code == 6
	named := slices.ContainsFunc(namedPID.FindAllStringSubmatch(x.all(), -1), func(m []string) bool {
		pid, _ := strconv.Atoi(m[1])
		return slices.ContainsFunc(crowd, func(y *tty) bool { return y != x && y.cmd.Process.Pid == pid })
	})
	if !moved && !refused || !named {
		x.t.Errorf("%v ends %d and names nobody who has it:\n%s", x.cmd.Args[1:], code, x.all())
	}
}

// oneHolder checks that the session has at most one live client and one holder now.
func (w *world) oneHolder(id string) {
	w.t.Helper()
	holders := 0
	for _, h := range w.show(id).Hosts {
		if h.Keyboard {
			holders++
		}
	}
	if n := len(pids(w.marks(), w.agentLogPath())); holders > 1 || n > 1 {
		w.t.Fatalf("%d holders, %d clients", holders, n)
	}
}
