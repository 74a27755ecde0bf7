package demo

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"berth/internal/session"
	"berth/manifest"
)

// chat is the agent: one goroutine owns all of it and runs run.
type chat struct {
	opts   options
	getenv func(string) string

	tty  terminal
	keys decoder
	view view
	raw  *os.File // --echo-raw: where input goes instead; open as long as the process

	history  *history
	ann      announcer
	messages int // of the user, in this conversation

	turn     *turn         // what it is doing, or nil
	queue    []string      // what was sent meanwhile
	question string        // what it waits for a yes or no to, or ""
	dialog   bool          // the question before it is ready is still open
	leaving  bool          // ctrl-c was pressed, and nothing since
	delay    time.Duration // between the words of a reply

	over    bool
	status  int
	parting string // said on the cooked terminal at the end
}

// wordDelay is the pace of a reply; DEMO_AGENT_SPEED divides it.
const wordDelay = 12 * time.Millisecond

// escapeWait is how long a lone escape may be the beginning of a longer sequence.
const escapeWait = 40 * time.Millisecond

// signalGrace is how long the end of a context may come before its signal.
const signalGrace = 50 * time.Millisecond

func newChat(o options, h *history, past []message, in, out *os.File, getenv func(string) string) (*chat, error) {
	a := &chat{
		opts: o, getenv: getenv, history: h,
		tty:    terminal{in: in, out: out},
		ann:    announcer{runDir: getenv("BERTH_RUN_DIR"), silent: o.silent, hideID: o.noAnnounceID, holding: o.late > 0},
		dialog: o.dialog,
		delay:  pace(getenv("DEMO_AGENT_SPEED")),
	}
	a.view = view{model: o.model, cwd: short(h.cwd, getenv("HOME")), color: getenv("NO_COLOR") == ""}
	a.named()
	for _, m := range past {
		a.say(m.Role, m.Text)
		if m.Role == fromUser {
			a.messages++
			a.view.input.remember(m.Text)
			a.entitle(m.Text)
		}
	}
	if o.echoRaw == "" {
		return a, nil
	}
	var err error
	a.raw, err = os.OpenFile(o.echoRaw, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	return a, err
}

// pace is the delay between words at a speed: 1 if it is not a number, none at 0.
func pace(speed string) time.Duration {
	f, err := strconv.ParseFloat(speed, 64)
	switch {
	case err != nil || f < 0:
		return wordDelay
	case f == 0:
		return 0
	}
	return time.Duration(float64(wordDelay) / f)
}

// short is path with the home directory as ~.
func short(path, home string) string {
	if rest, ok := strings.CutPrefix(path, home); ok && home != "" && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return path
}

// run is the agent's life. Idle, it waits in one select and has no timer.
func (a *chat) run(ctx context.Context, signals <-chan os.Signal) int {
	if err := a.tty.enter(); err != nil {
		return complain(a.tty.out, 1, "cannot take the terminal: %v", err)
	}
	var late, lone, grace <-chan time.Time
	if a.opts.late > 0 {
		late = time.After(a.opts.late)
	}
	a.welcome()
	input, ended := a.read(), ctx.Done()
	for !a.over {
		if a.turn == nil || !a.turn.hidden {
			a.show()
		}
		select {
		case b, more := <-input:
			if !more {
				input = nil
				a.signalled(syscall.SIGHUP)
				break
			}
			lone = a.typed(b)
		case <-lone:
			lone = nil
			a.press(a.keys.flush())
		case s := <-signals:
			a.signalled(s)
		case <-ended:
			// Whoever ended it for a signal is answered as that signal is: it
			// arrives here too, at the same time.
			ended, grace = nil, time.After(signalGrace)
		case <-grace:
			a.signalled(syscall.SIGTERM)
		case s, more := <-a.pieces():
			if more {
				a.hear(s)
			} else {
				a.finish()
			}
		case <-late:
			a.ann.release()
		}
	}
	if a.abandon() {
		a.tty.leave()
		fmt.Fprint(a.tty.out, a.parting)
	} else {
		a.tty.cook()
	}
	return a.status
}

// read delivers input, and closes at its end. Its goroutine ends with the process:
// nothing but input wakes a read of a terminal.
func (a *chat) read() <-chan []byte {
	input := make(chan []byte)
	go func() {
		defer close(input)
		for {
			b := make([]byte, 4096)
			n, err := a.tty.in.Read(b)
			if n > 0 {
				input <- b[:n]
			}
			if err != nil {
				return
			}
		}
	}()
	return input
}

// typed takes bytes from the keyboard. The timer it returns, if any, says when to
// take a lone escape for a key.
func (a *chat) typed(b []byte) <-chan time.Time {
	if a.raw != nil && !a.dialog {
		a.raw.Write(b) //nolint:errcheck // a test that misses bytes will tell
		return nil
	}
	a.press(a.keys.feed(b))
	if a.keys.pending() {
		return time.After(escapeWait)
	}
	return nil
}

// entitle names the conversation after its first message.
func (a *chat) entitle(text string) {
	if a.messages == 1 {
		a.view.title = session.Title(text)
	}
}

// named shows which conversation this is.
func (a *chat) named() { a.view.id, a.view.title = a.history.id, "new conversation" }

func (a *chat) announceTurn(state string) { a.ann.say(manifest.Announcement{Turn: state}) }
