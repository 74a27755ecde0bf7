//go:build linux

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// A terminal leaves in every way there is: the agent goes on, the keyboard and the
// size go back to the pane, and held_by says so.
func TestKeyboardGoesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.newProbe("probe")
	pane := w.tmuxHost(p.ID)
	if pane.Pane == nil || !pane.Keyboard {
		t.Fatalf("the pane's host: %+v", pane)
	}
	host := func() int {
		for _, h := range w.show(p.ID).Hosts {
			if h.Kind == "terminal" {
				return h.PID
			}
		}
		return 0
	}
	for _, row := range []struct {
		name  string
		leave func(x *tty)
		code  int  // -1: ended by a signal
		said  bool // it says where the agent is
		given bool // the terminal is given back as it was
	}{
		{"detach key", func(x *tty) { x.typeIn("\x1c") }, 0, true, true},
		{"detach key of kitty's protocol", func(x *tty) { x.typeIn("\x1b[92;5u") }, 0, true, true},
		{"detach key of modifyOtherKeys", func(x *tty) { x.typeIn("\x1b[27;5;92~") }, 0, true, true},
		{"TERM", func(x *tty) { kill(t, host(), syscall.SIGTERM) }, 0, false, true},
		{"hang-up", func(x *tty) { x.hangUp() }, 0, false, false},
		{"SIGKILL of the host", func(x *tty) { kill(t, host(), syscall.SIGKILL) }, -1, false, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			x := w.openFromShell("open", p.ID)
			w.eventually("held by the terminal", func() bool { return w.heldBy(p.ID) == "terminal" })
			p.do("modes")
			x.waitFor("modes set")
			w.eventually("the agent has the terminal's size", func() bool { return agentSize(p.Client.PID) == "80x24" })
			w.eventually("the pane mirrors at that size", func() bool { return w.paneSize(*pane.Pane) == "80x24" })

			x.resize(100, 30)
			w.eventually("the agent follows the terminal", func() bool { return agentSize(p.Client.PID) == "100x30" })
			w.eventually("the pane follows", func() bool { return w.paneSize(*pane.Pane) == "100x30" })
			w.eventually("the pane shows what the terminal shows", func() bool { return strings.Contains(w.run("capture", p.ID).out, "size 100x30") })

			row.leave(x)
			if row.name != "hang-up" {
				x.waitFor(fmt.Sprintf("shell: exit=%d", row.code))
			}
			if row.said {
				x.waitFor("the agent runs on")
			}
			if row.given {
				x.waitFor("termios-same=true")
				modesReset(t, x.all())
			}
			w.eventually("nobody holds it", func() bool { return w.heldBy(p.ID) == "" })
			w.eventually("the pane has its own size back", func() bool { return w.paneSize(*pane.Pane) == "120x40" })
			w.eventually("and the agent the pane's", func() bool { return agentSize(p.Client.PID) == "120x40" })
			after := w.show(p.ID)
			if after.Client == nil || after.Client.PID != p.Client.PID || len(after.Hosts) != 1 || !after.Hosts[0].Keyboard || after.Hosts[0].Kind != "tmux" {
				t.Fatalf("after: client %+v, hosts %+v", after.Client, after.Hosts)
			}
		})
	}
}

// modesReset fails the test unless every mode that the stream set it also reset, last.
func modesReset(t *testing.T, stream string) {
	t.Helper()
	on := map[string]bool{}
	for _, m := range regexp.MustCompile(`\x1b\[\?([0-9;]+)([hl])`).FindAllStringSubmatch(stream, -1) {
		for n := range strings.SplitSeq(m[1], ";") {
			on[n] = m[2] == "h"
		}
	}
	for n, is := range on {
		if normally := n == "25" || n == "7"; is != normally {
			t.Errorf("mode %s is left %v", n, is)
		}
	}
	if push, pop := strings.LastIndex(stream, "\x1b[>1u"), strings.LastIndex(stream, "\x1b[<"); push >= 0 && pop < push {
		t.Error("the kitty keyboard flags are left on")
	}
	if !strings.Contains(stream[strings.LastIndex(stream, "\x1b[?1049"):], "\x1b>") {
		t.Error("the keypad is left in application mode")
	}
}

// Somebody attached to the pane holds the session; somebody who only reads does not;
// a second terminal is refused while one holds it.
func TestWhoHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newDemo("hello")
	attach := func(more ...string) *tty {
		t.Helper()
		cmd := exec.Command("sh", "-c", strings.Join(append([]string{r.Tmux.Attach}, more...), " "))
		cmd.Env = w.env
		x := startTTY(t, cmd)
		x.waitFor("You said: hello")
		return x
	}
	a := attach()
	w.eventually("held by whoever is attached", func() bool { return w.heldBy(r.ID) == "tmux" })
	x := w.open("open", r.ID)
	if code := x.wait(); code != 4 {
		t.Fatalf("open beside an attached client: exit %d\n%s", code, x.screen())
	}
	for _, want := range []string{"is held by somebody at /dev/pts/", "attached to its tmux pane %", "since", "berth attach --read-only " + r.ID} {
		x.gets(0, want)
	}
	a.typeIn("typed in the pane\r")
	a.waitFor("You said: typed in the pane")
	a.typeIn("\x02d") // prefix, d
	if code := a.wait(); code != 0 {
		t.Fatalf("tmux detach: exit %d", code)
	}
	w.eventually("nobody holds it", func() bool { return w.heldBy(r.ID) == "" })

	reader := attach("-r")
	if w.tmuxSays("list-clients", "-F", "#{client_readonly}") != "1" {
		t.Fatalf("clients: %q", w.tmuxSays("list-clients"))
	}
	b := w.open("open", r.ID) // it asks the pane's host to count, which finds nobody
	w.eventually("held by the terminal", func() bool { return w.heldBy(r.ID) == "terminal" })
	b.waitFor("You said: typed in the pane")
	b.typeIn("typed beside a reader\r")
	reader.waitFor("You said: typed beside a reader") // the pane mirrors
	c := w.open("open", r.ID)
	c.gets(0, "is held by terminal /dev/pts/")
	if code := c.wait(); code != 4 {
		t.Fatalf("open beside a terminal: exit %d\n%s", code, c.screen())
	}
	b.typeIn("\x1c")
	b.wait()
	if h := w.heldBy(r.ID); h != "" {
		t.Fatalf("held by %q after the detach", h)
	}
}

// In a pane, which is left by tmux's own detach, the detach key is the agent's.
func TestDetachKeyInAPaneIsTheAgents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.newProbe("probe")
	pane := *w.tmuxHost(p.ID).Pane
	w.tmuxSays("send-keys", "-t", pane, `C-\`, "a", "f", "t", "e", "r")
	w.eventually("the agent has it all", func() bool { return p.typed() == "\x1cafter" })
}

// Leaving and coming back at once is never refused, though the supervisor, busy, hears
// of both at the same time.
func TestOpenRightAfterLeaving(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newDemo("hello")
	w.tmuxHost(r.ID)
	super := w.show(r.ID).Supervisor.PID
	x := w.open("open", r.ID)
	for range soak(10, 100) {
		x.waitFor("You said: hello")
		w.freeze(super)
		x.typeIn("\x1c")
		code := x.wait()
		y := w.open("open", r.ID)
		w.eventually("its word is on the way", func() bool { return strings.Contains(holds(t, y.cmd.Process.Pid), "socket:") })
		kill(t, super, syscall.SIGCONT)
		if code != 0 {
			t.Fatalf("leaving: exit %d\n%s", code, x.screen())
		}
		x = y
	}
	x.waitFor("You said: hello")
	x.typeIn("\x1c")
	x.wait()
}

// An agent that is stuck and reads nothing keeps nobody: a person who pasted a megabyte
// into it leaves as ever, and the agent gets all of it when it goes on.
func TestStuckAgentKeepsNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.newProbe("probe")
	w.tmuxHost(p.ID)
	x := w.openFromShell("open", p.ID)
	w.eventually("held by the terminal", func() bool { return w.heldBy(p.ID) == "terminal" })
	w.freeze(p.Client.PID)
	defer kill(t, p.Client.PID, syscall.SIGCONT)
	paste := strings.Repeat("pasted words\r", 80_000)
	x.typeIn(paste + "\x1c")
	x.waitFor("shell: exit=0 termios-same=true")
	if h := w.heldBy(p.ID); h != "" {
		t.Errorf("held by %q", h)
	}
	kill(t, p.Client.PID, syscall.SIGCONT)
	w.eventually("the agent has it all", func() bool { return len(p.typed()) >= len(paste) })
	if p.typed() != paste {
		t.Error("what was pasted did not arrive as it was")
	}
}

// A terminal's answer right behind the detach key, in one read, is no reason to wait
// for another, and goes nowhere.
func TestAnswerBehindTheDetachKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.newProbe("probe")
	w.tmuxHost(p.ID)
	x := w.openFromShell("open", p.ID)
	w.eventually("held by the terminal", func() bool { return w.heldBy(p.ID) == "terminal" })
	p.do("cpr")
	x.gets(0, askCursor)
	x.typeIn("\x1c" + cursorAt)
	x.waitFor("shell: exit=0 termios-same=true")
	x.typeIn("#")
	x.waitFor(`shell: typed "#".`)
	if got := p.typed(); strings.Contains(got, cursorAt) {
		t.Fatalf("the agent got %q", got)
	}
}

// frozenHolder is a terminal that holds the probe's session and is stopped (SIGSTOP).
func (p probed) frozenHolder() *tty {
	p.w.t.Helper()
	x := p.w.open("open", p.ID)
	p.w.eventually("held by the terminal", func() bool { return p.w.heldBy(p.ID) == "terminal" })
	p.w.freeze(x.cmd.Process.Pid)
	return x
}

// A host that is frozen while the agent writes 20 MB: the agent runs on, and the
// terminal shows the right end when it wakes.
func TestFrozenHost(t *testing.T) { // not beside others: it is about who gets time
	w := newWorld(t)
	p := w.newProbe("probe")
	x := p.frozenHolder()
	const lines = 20 << 20 / 75
	p.do(fmt.Sprintf("lines %d", lines))
	if strings.Contains(x.screen(), "line") {
		t.Fatal("the host was not frozen")
	}
	kill(t, x.cmd.Process.Pid, syscall.SIGCONT)
	x.waitFor(fmt.Sprintf("that was %d", lines))
	screen := x.screen()
	for i := lines; i > lines-20; i-- {
		if want := fmt.Sprintf("line %07d %060d", i, i); !strings.Contains(screen, want) {
			t.Fatalf("the picture lacks %q:\n%s", want, screen)
		}
	}
	x.typeIn("after\x1c")
	if code := x.wait(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	w.eventually("what was typed after the thaw has arrived", func() bool { return strings.HasSuffix(p.typed(), "after") })
}

// A mirror that is frozen while a holder takes megabytes is left behind once, and gets
// its picture when it moves again.
func TestFrozenMirror(t *testing.T) { // not beside others: it is about who gets time
	w := newWorld(t)
	p := w.newProbe("probe")
	pane := w.tmuxHost(p.ID)
	x := w.open("open", p.ID)
	w.eventually("held by the terminal", func() bool { return w.heldBy(p.ID) == "terminal" })
	w.freeze(w.tmuxServer()) // a pane's own process would be woken by tmux
	const lines = 20 << 20 / 75
	p.do(fmt.Sprintf("lines %d", lines))
	x.waitFor(fmt.Sprintf("that was %d", lines))
	w.eventually("the mirror is left behind", func() bool { return w.event(p.Record, "host stalled") })
	stalled := 0
	for _, e := range events(t, w.run("events", p.ID).want(0).out) {
		if e.Event == "host stalled" && fmt.Sprint(e.Detail["pid"]) == fmt.Sprint(pane.PID) {
			stalled++
		}
	}
	if stalled != 1 {
		t.Errorf("the mirror was left behind %d times\n%s", stalled, w.run("events", p.ID).out)
	}
	kill(t, w.tmuxServer(), syscall.SIGCONT)
	w.eventually("the pane shows the end", func() bool {
		return strings.Contains(w.run("capture", p.ID).out, fmt.Sprintf("that was %d", lines))
	})
}

// A terminal that is only slow makes the agent wait, and gets every line.
func TestSlowHostLosesNothing(t *testing.T) { // not beside others: it is about who gets time
	w := newWorld(t)
	p := w.newProbe("probe")
	cmd := w.command(context.Background(), nil, "open", p.ID)
	ptmx, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	t.Cleanup(func() { ptmx.Close(); cmd.Process.Kill(); <-ended })
	w.eventually("held by the terminal", func() bool { return w.heldBy(p.ID) == "terminal" })

	const lines = 40_000 // 3 MB: far more than fits between the agent and here
	p.tell(fmt.Sprintf("lines %d", lines))
	var got strings.Builder
	buf := make([]byte, 8<<10)
	last := fmt.Sprintf("that was %d", lines)
	for tail := ""; !strings.Contains(tail, last); {
		n, err := ptmx.Read(buf)
		if err != nil {
			t.Fatalf("%v after %d bytes", err, got.Len())
		}
		got.Write(buf[:n])
		tail = (tail + string(buf[:n]))[max(0, len(tail)+n-200):]
		<-time.After(time.Millisecond) // the slowness that is being tested
	}
	next := 1
	for _, m := range regexp.MustCompile(`line (\d{7})`).FindAllStringSubmatch(got.String(), -1) {
		var i int
		fmt.Sscanf(m[1], "%07d", &i)
		if i != next {
			t.Fatalf("line %d came where %d was due", i, next)
		}
		next++
	}
	if next != lines+1 {
		t.Fatalf("%d of %d lines", next-1, lines)
	}
}

// ctrl-Z in an agent without a shell above it: the person is back at their own shell,
// the agent was continued, and the session can be opened again.
func TestSuspendDetaches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newDemo("hello")
	x := w.openFromShell("open", r.ID)
	x.waitFor("You said: hello")
	x.typeIn("\x1a")
	x.waitFor("the agent runs on")
	x.waitFor("shell: exit=0 termios-same=true")
	modesReset(t, x.all())
	y := w.open("open", r.ID)
	y.waitFor("You said: hello")
	y.typeIn("still here\r")
	y.waitFor("You said: still here")
	if after := w.show(r.ID); after.Client == nil || after.Client.PID != r.Client.PID {
		t.Fatalf("after: %+v", after)
	}
	y.typeIn("\x1c")
	y.wait()

	attach := exec.Command("sh", "-c", r.Tmux.Attach) // in the pane there is no shell to go back to: it goes on
	attach.Env = w.env
	z := startTTY(t, attach)
	z.waitFor("You said: still here")
	z.typeIn("\x1a")
	z.typeIn("after the second\r")
	z.waitFor("You said: after the second")
}

// What supervisors hold does not grow with the terminals that come and go.
func TestAttachAndDetachLeaveNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newDemo("hello")
	w.tmuxHost(r.ID)
	super := w.show(r.ID).Supervisor.PID
	round := func(leave func(x *tty)) {
		t.Helper()
		x := w.open("open", r.ID)
		x.waitFor("You said: hello")
		leave(x)
		x.wait()
		w.eventually("nobody holds it", func() bool { return w.heldBy(r.ID) == "" })
	}
	detach := func(x *tty) { x.typeIn("\x1c") }
	crash := func(x *tty) { kill(t, x.cmd.Process.Pid, syscall.SIGKILL) }
	round(detach)
	round(crash)
	before := holds(t, super)
	for range soak(50, 500) {
		round(detach)
	}
	for range soak(5, 20) {
		round(crash)
	}
	held := []string{before, ""}
	w.soon("leaked", func() bool { held[1] = holds(t, super); return held[1] == before }, &held)
	if n := len(marked(w.marks())); n != 4 { // tmux server, supervisor, pane's host, agent
		t.Errorf("%d processes: %v", n, marked(w.marks()))
	}
}

// holds is how many files of each kind a process has open.
func holds(t *testing.T, pid int) string {
	t.Helper()
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if errors.Is(err, os.ErrNotExist) {
		return "nothing: it has ended"
	}
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, fd := range fds {
		to, err := os.Readlink(filepath.Join("/proc", fmt.Sprint(pid), "fd", fd.Name()))
		if err == nil {
			kind, _, _ := strings.Cut(to, ":")
			kinds[kind]++
		}
	}
	return fmt.Sprint(len(fds), " ", kinds)
}
