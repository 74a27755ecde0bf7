//go:build linux

package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"berth/internal/protocol"
	"berth/internal/screen"
	"berth/internal/session"
)

// An agent writes as fast as it can while the keyboard goes from terminal to terminal:
// what the holders were shown after their pictures is all it wrote, in order, nothing
// twice, and never cut inside a sequence.
func TestMovedWhileOutputFloods(t *testing.T) { // not beside others: it is about who gets time
	w := newWorld(t)
	p := w.newProbe("probe")
	w.tmuxHost(p.ID)
	moves := soak(10, 50)
	holders := []*wireHost{w.joinWire(p.Record, protocol.WantMove, 80, 24)}
	holders[0].hasKeyboard()
	p.tell("flood")
	for range moves {
		last := holders[len(holders)-1]
		last.until("it is shown something", func() bool { return len(last.output) > 100_000 })
		h := w.joinWire(p.Record, protocol.WantMove, 80, 24)
		h.hasKeyboard()
		last.until("it was told who came", func() bool { return last.begone != nil })
		if last.begone.Reason != protocol.LeaveMoved || !strings.Contains(last.begone.To, "terminal /dev/pts/wire (pid ") {
			t.Fatalf("the old holder is told %+v", last.begone)
		}
		holders = append(holders, h)
	}
	p.tell("stop")
	last, lines := holders[len(holders)-1], 0
	last.until("the last line", func() bool {
		_, end, found := strings.Cut(string(last.output), "that was ")
		if found {
			fmt.Sscan(end, &lines)
		}
		return found && strings.Contains(end, "\n")
	})

	var all strings.Builder
	for i, h := range holders {
		h.mu.Lock()
		if len(h.pictures) != 1 {
			t.Errorf("holder %d got %d pictures", i, len(h.pictures))
		}
		var s screen.Scanner
		s.Feed(h.output)
		if i < len(holders)-1 && !s.Ground() {
			t.Errorf("holder %d's output ends inside a sequence: %.60q", i, h.output[max(0, len(h.output)-20):])
		}
		all.Write(h.output)
		h.mu.Unlock()
	}
	var wrote strings.Builder
	for i := range lines {
		probeLine(&wrote, i+1)
	}
	fmt.Fprintf(&wrote, "that was %d\r\n", lines)
	got := sizeLine.ReplaceAllString(all.String(), "")
	if want := wrote.String(); got != want {
		at := firstDifference([]byte(got), []byte(want))
		t.Errorf("the holders were shown %d bytes, the agent wrote %d; they differ at %d: %.200q instead of %.200q", len(got), len(want), at, got[at:], want[at:])
	}
}

// sizeLine is what the probe writes when it is told that its terminal changed.
var sizeLine = regexp.MustCompile(`\x1b7\x1b\[1;1H\x1b\[2Ksize \d+x\d+\x1b8`)

// What is typed by holder after holder reaches the agent once and in order: the last
// keys before a move, and the first at the new place, which come before it has the
// keyboard. What the old place types after the move is nobody's.
func TestTypedByOneHolderAfterTheOther(t *testing.T) { // not beside others: it is about who gets time
	w := newWorld(t)
	p := w.newProbe("probe")
	w.tmuxHost(p.ID)
	want, n := "", 0
	keys := func(count int) string {
		var b strings.Builder
		for range count {
			n++
			fmt.Fprintf(&b, "<%d>", n)
		}
		want += b.String()
		return b.String()
	}
	var old *tty
	for i := range soak(10, 50) {
		verb := []string{"move", p.ID}
		pane := i%3 == 2
		if pane {
			verb = []string{"attach", "--move", p.ID}
		}
		if old != nil {
			old.typeIn(keys(20))
			w.eventually("the old holder's keys", func() bool { return strings.HasSuffix(p.typed(), fmt.Sprintf("<%d>", n)) })
		}
		x := w.open(verb...)
		if !pane { // tmux throws away what is typed before it has the terminal
			x.typeIn(keys(20))
		}
		w.eventually("it has the keyboard", func() bool {
			for _, h := range w.show(p.ID).Hosts {
				if h.Keyboard {
					return h.PID == x.cmd.Process.Pid || pane && h.Kind == "tmux" && h.Watchers > 0
				}
			}
			return false
		})
		x.typeIn(keys(20))
		if old != nil {
			if code := old.leaves(); code != 0 {
				t.Fatalf("move %d: the old place ends %d\n%s", i, code, old.screen())
			}
		}
		w.eventually(fmt.Sprintf("all keys of move %d", i), func() bool { return len(p.typed()) >= len(want) })
		if got := p.typed(); got != want {
			at := firstDifference([]byte(got), []byte(want))
			t.Fatalf("move %d: the agent was typed %d bytes, want %d; they differ at %d: %.100q instead of %.100q", i, len(got), len(want), at, got[at:], want[at:])
		}
		old = x
	}
}

// leaves is how the command in a terminal that lost the keyboard ends; one attached
// to the tmux pane looks on until it is told to detach.
func (x *tty) leaves() int {
	x.t.Helper()
	if strings.Contains(strings.Join(x.cmd.Args, " "), "attach") {
		x.typeIn("\x02d")
	}
	return x.wait()
}

// Of two who come at once the later wins, and the earlier is told by whom.
func TestTwoMoversAtOnce(t *testing.T) { // not beside others: it is about who gets time
	w := newWorld(t)
	p := w.newProbe("probe")
	w.tmuxHost(p.ID)
	server := w.tmuxServer()
	holder := w.joinWire(p.Record, protocol.WantMove, 120, 40)
	holder.hasKeyboard()
	for range soak(5, 50) {
		w.freeze(server) // no pane draws, so the first is still on its way
		first := w.joinWire(p.Record, protocol.WantMove, 120, 40)
		first.typeIn("never typed")
		second := w.joinWire(p.Record, protocol.WantMove, 120, 40)
		kill(t, server, syscall.SIGCONT)
		second.hasKeyboard()
		first.until("the earlier is told", func() bool { return first.refused != nil || first.begone != nil })
		const who = "terminal /dev/pts/wire (pid "
		switch r, l := first.refused, first.begone; {
		case r != nil && (r.Class != session.Refused || !strings.Contains(r.Message, "was moved to "+who)):
			t.Fatalf("the earlier is told %+v", r)
		case r == nil && !strings.Contains(l.To, who): // it had it when the second came: this machine is slow
			t.Fatalf("the earlier is told %+v", l)
		}
		holder.until("the holder is told", func() bool { return holder.begone != nil })
		holder = second
	}
	holder.typeIn("typed")
	w.eventually("what the last one typed", func() bool { return strings.HasSuffix(p.typed(), "typed") })
}

// A holder that is frozen in the middle of a flood loses the keyboard all the same;
// when it wakes, it says where the session went, and ends 0.
func TestMovedFromAFrozenHolder(t *testing.T) { // not beside others: it is about who gets time
	w := newWorld(t)
	p := w.newProbe("probe")
	x := p.frozenHolder()
	p.tell("lines 100000")
	y := w.open("move", p.ID)
	y.gets(0, "that was 100000")
	y.typeIn("from the new place")
	w.eventually("the new place types", func() bool { return p.typed() == "from the new place" })
	kill(t, x.cmd.Process.Pid, syscall.SIGCONT)
	if code := x.wait(); code != 0 {
		t.Fatalf("the frozen place ends %d\n%s", code, x.screen())
	}
	x.waitFor("[" + p.ID + " was moved to terminal") // on a line of its own
}

// A paste that the old place never finished is closed for the agent, once, whether it
// lost the keyboard or its life.
func TestOpenPasteIsClosed(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		lose func(w *world, p probed, x *tty)
	}{
		{"moved to a terminal", func(w *world, p probed, x *tty) { w.open("move", p.ID); x.wait() }},
		{"moved to the pane", func(w *world, p probed, x *tty) { w.open("attach", "--move", p.ID); x.wait() }},
		{"hung up", func(_ *world, _ probed, x *tty) { x.hangUp() }},
		{"crashed", func(_ *world, _ probed, x *tty) { kill(x.t, x.cmd.Process.Pid, syscall.SIGKILL) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.newProbe("probe")
			w.tmuxHost(p.ID)
			x := w.open("open", p.ID)
			w.eventually("held by the terminal", func() bool { return w.heldBy(p.ID) == "terminal" })
			x.typeIn("\x1b[200~half a paste")
			w.eventually("the paste has begun", func() bool { return strings.HasSuffix(p.typed(), "half a paste") })
			row.lose(w, p, x)
			want := "\x1b[200~half a paste\x1b[201~"
			w.eventually("the paste is closed", func() bool { return p.typed() == want })
			y := w.open("move", p.ID)
			w.eventually("held by another terminal", func() bool { return w.heldBy(p.ID) == "terminal" })
			y.typeIn("after it")
			w.eventually("what came after it", func() bool { return strings.HasSuffix(p.typed(), "after it") })
			if got := p.typed(); got != want+"after it" {
				t.Fatalf("typed %q", got)
			}
		})
	}
}
