package demo

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// work is what the agent does in a turn, in a goroutine of its own: say shows a piece
// of what it says. It ends soon after ctx does.
type work func(ctx context.Context, say func(string))

// turn is the work going on. The agent's loop reads pieces; their end is the turn's.
type turn struct {
	who    string // who speaks: fromAgent or fromNote
	record bool   // what it said goes into the history
	hidden bool   // it writes to the terminal itself: draw nothing
	pieces chan string
	said   strings.Builder
	at     int // where what it said stands in the view's entries
	cancel context.CancelFunc
	broken bool // it was interrupted
}

// maxSaid is how much of one turn is shown, in bytes.
const maxSaid = 64 << 10

// begin starts a turn.
func (a *chat) begin(t *turn, w work) {
	ctx, cancel := context.WithCancel(context.Background())
	t.pieces, t.cancel = make(chan string), cancel
	a.turn = t
	go func() {
		defer close(t.pieces)
		w(ctx, func(s string) {
			select {
			case t.pieces <- s:
			case <-ctx.Done():
			}
		})
	}()
}

// pieces is the running turn's channel; nil, which never delivers, without one.
func (a *chat) pieces() chan string {
	if a.turn == nil {
		return nil
	}
	return a.turn.pieces
}

// hear takes one piece of the running turn.
func (a *chat) hear(s string) {
	t := a.turn
	if t.said.Len() == 0 {
		t.at = len(a.view.entries)
		a.view.entries = append(a.view.entries, entry{who: t.who})
	}
	if t.said.Len() > maxSaid {
		return
	}
	if t.said.WriteString(s); t.said.Len() > maxSaid {
		t.said.WriteString("\n… (the rest is not shown)")
	}
	a.view.entries[t.at].text = t.said.String()
}

// finish ends the running turn, and begins the next message that waits.
func (a *chat) finish() {
	t := a.turn
	a.turn = nil
	t.cancel()
	if t.record && !t.broken {
		a.record(fromAgent, t.said.String())
	}
	if t.hidden {
		a.tty.measure() // what is on the screen is not ours
	}
	a.idle()
}

// interrupt stops the running turn, and drops what waits behind it.
func (a *chat) interrupt() {
	if a.turn.broken {
		return
	}
	a.turn.broken = true
	a.turn.cancel()
	a.queue = nil
	a.tell("interrupted")
}

// abandon stops the running turn and waits for its end, but not for ever: a flood
// may be stuck in a terminal nobody reads. It reports whether the turn ended.
func (a *chat) abandon() bool {
	if a.turn == nil {
		return true
	}
	a.turn.cancel()
	limit := time.After(abandonWait)
	for {
		select {
		case _, more := <-a.turn.pieces:
			if !more {
				return true
			}
		case <-limit:
			return false
		}
	}
}

// abandonWait is less than any supervisor's patience with a polite stop.
const abandonWait = 250 * time.Millisecond

// pause waits for d, or until ctx ends; it reports whether d passed.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// reply says text word by word, delay apart.
func reply(text string, delay time.Duration) work {
	return func(ctx context.Context, say func(string)) {
		if delay == 0 {
			say(text)
			return
		}
		for _, word := range strings.SplitAfter(text, " ") {
			if !pause(ctx, delay) {
				return
			}
			say(word)
		}
	}
}

// busy does nothing for d.
func busy(d time.Duration) work {
	return func(ctx context.Context, say func(string)) {
		if pause(ctx, d) {
			say(fmt.Sprintf("busy for %s", d))
		}
	}
}

// flood writes n megabytes of numbered lines to the terminal, as fast as it takes
// them, past everything the chat draws.
func flood(out *os.File, n megabytes) work {
	return func(ctx context.Context, say func(string)) {
		line, size := 0, 0
		for size < int(n)<<20 && ctx.Err() == nil {
			var b strings.Builder
			for b.Len() < 32<<10 {
				line++
				fmt.Fprintf(&b, "flood %09d %s\r\n", line, strings.Repeat("~", line%60))
			}
			if _, err := out.WriteString(b.String()); err != nil {
				return
			}
			size += b.Len()
		}
		say(fmt.Sprintf("flooded %d lines, %d bytes", line, size))
	}
}

// tool runs a shell command in a process group of its own and says what it prints.
func tool(command string) work {
	return func(ctx context.Context, say func(string)) {
		c := exec.CommandContext(ctx, "sh", "-c", command)
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
		c.WaitDelay = time.Second // what it leaves in the background may keep its output open
		w := &sayer{say, '\n'}
		c.Stdout, c.Stderr = w, w
		fmt.Fprintf(w, "$ %s\n", command)
		err := c.Run()
		if w.last != '\n' {
			say("\n")
		}
		say("[" + outcome(c, err) + "]")
	}
}

func outcome(c *exec.Cmd, err error) string {
	if c.ProcessState == nil {
		return err.Error()
	}
	return c.ProcessState.String()
}

// sayer is say as a writer.
type sayer struct {
	say  func(string)
	last byte // that was written
}

func (w *sayer) Write(b []byte) (int, error) {
	if len(b) > 0 {
		w.say(string(b))
		w.last = b[len(b)-1]
	}
	return len(b), nil
}
