package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"berth/internal/protocol"
	"berth/internal/screen"
	"berth/internal/session"
	"berth/manifest"
	"berth/tmux"

	"golang.org/x/sys/unix"
)

// Times of a host.
const (
	dialWait  = 2 * time.Second
	helloWait = 5 * time.Second       // the supervisor may have to ask another host first
	keyWait   = 25 * time.Millisecond // after a lone ESC: the rest of a key comes at once, or never
	replyWait = 5 * time.Second       // for an answer the terminal still owes when we leave
	calmWait  = 50 * time.Millisecond // for mouse and focus reports on their way when we leave
)

// Options say what joins what.
type Options struct {
	Socket string            // of the supervisor
	Hello  protocol.Greeting // what we know of the run, and Want; As, Host and Size are filled in here
	Kind   string            // manifest.HostTerminal or HostTmux
	Info   manifest.Host     // who we are: process, tty, pane, server

	In, Out *os.File // the terminal

	Tmux *tmux.Server // of a tmux host
}

// Why a joining ended.
const (
	Detached = "detached" // the person left; the agent runs on
	Moved    = "moved"    // somebody else has the keyboard now; the agent runs on
	HungUp   = "hangup"   // the terminal went away; the agent runs on
	Over     = "over"     // the client ended
)

// Result is how a joining ended.
type Result struct {
	Why    string
	Ending protocol.Ending // when Why is Over
	To     string          // when Why is Moved: who has it now
}

// ErrLost says that the supervisor went away without a word.
var ErrLost = errors.New("the supervisor ended without a word")

// Join joins the terminal to the supervisor and returns when that has ended. An
// error before the supervisor took us is its refusal, or that it could not be
// reached; the terminal is untouched then. joined is called once, when the
// supervisor has taken us.
func Join(ctx context.Context, o Options, joined func()) (Result, error) {
	size, err := sizeOf(o.Out)
	if err != nil {
		return Result{}, session.Errorf(session.Usage, "cannot read the size of the terminal: %w", err)
	}
	c, err := protocol.Dial(o.Socket, dialWait)
	if err != nil {
		return Result{}, session.Errorf(session.Unknown, "cannot reach the supervisor of run %s: %w", o.Hello.Run, err)
	}
	defer c.Close() //nolint:errcheck // done with it
	j := &joining{Options: o, conn: c, size: size, gone: make(chan struct{}), work: make(chan func(), 16)}
	defer close(j.gone)
	j.in.NoDetach = o.Kind == manifest.HostTmux // a pane is left by tmux's own detach
	if err := j.hello(); err != nil {
		return Result{}, err
	}
	joined()
	restore, err := j.raw()
	if err != nil {
		return Result{}, err
	}
	defer restore()
	return j.run(ctx)
}

// joining is one host at work. run's goroutine owns it.
type joining struct {
	Options
	conn *protocol.Conn
	size protocol.Size
	gone chan struct{} // closed at the end: whoever waits to bring something stops
	work chan func()   // calls of tmux, in their order; room for bursts, more are merged away

	out     screen.Scanner // of what the terminal was sent, for its modes
	in      screen.Input
	midLine bool      // the client's last byte was no newline
	asked   int       // queries the terminal has not answered
	since   time.Time // when the last of them was asked
	after   []byte    // what had been read behind the detach key
	role    protocol.RoleChange

	// Of a tmux host.
	passed  []func()      // what is done when the pane has passed a fence, in their order
	still   chan struct{} // not nil: frames wait for a picture; closed when they go on
	free    bool          // the pane has a size of its own; before the first role it may be pinned, by a host before us
	noticed *string       // what the pane's notice says; nil: not known, a host before us may have left one
	own     protocol.Size // the size it had when it was free; zero if we have not seen that
}

// hello says who we are, and hears whether the supervisor takes us.
func (j *joining) hello() error {
	var g protocol.Greeting
	h := j.Hello
	h.Protocol, h.MinProtocol = protocol.Version, protocol.MinVersion
	h.As, h.Host, h.Size = protocol.AsHost, j.Info, j.size
	if h.Want == "" {
		h.Want = protocol.WantKeyboard
	}
	h.Host.Kind = j.Kind
	if j.Kind == manifest.HostTmux {
		w, err := j.watchers()
		if err != nil {
			w.Count = 1 // somebody may
		}
		h.Host.Watchers, h.Host.WatcherTTY = w.Count, w.TTY
	}
	if err := j.conn.SetDeadline(time.Now().Add(helloWait)); err != nil {
		return err
	}
	if err := j.conn.SendJSON(protocol.Hello, h); err != nil {
		return session.Errorf(session.Unknown, "cannot reach the supervisor of run %s: %w", h.Run, err)
	}
	kind, payload, err := j.conn.Recv()
	if err != nil {
		return session.Errorf(session.Unknown, "the supervisor of run %s (pid %d) does not answer: %w", h.Run, h.Supervisor.PID, err).
			WithHint("berth restart %s   # ends it and the agent, and resumes the conversation", h.Run)
	}
	if kind == protocol.Refused {
		var r protocol.Refusal
		if err := protocol.Decode(kind, payload, &r); err != nil {
			return err
		}
		return r.Err()
	}
	if err := protocol.Decode(kind, payload, &g); err != nil {
		return err
	}
	if err := protocol.Match(h, g); err != nil {
		return err
	}
	return j.conn.SetDeadline(time.Time{})
}

// received is a frame, or the end of the connection.
type received struct {
	kind    protocol.Type
	payload []byte
	err     error
}

func (j *joining) run(ctx context.Context) (res Result, err error) {
	frames := make(chan received)
	go func() {
		for {
			var r received
			r.kind, r.payload, r.err = j.conn.Recv()
			select {
			case frames <- r:
			case <-j.gone:
				return
			}
			if r.err != nil {
				return
			}
		}
	}()
	kb, err := newKeyboard(j.In)
	if err != nil {
		return Result{}, err
	}
	keys := make(chan []byte)
	go kb.read(keys)
	defer func() {
		kb.stop()
		switch {
		case j.Kind == manifest.HostTerminal:
			j.drain(kb)
		case res.Why == Over:
			j.awaitRead(kb)
		}
		kb.close()
	}()
	winch, end := make(chan os.Signal, 1), make(chan os.Signal, 1) // one of each is enough to know
	signal.Notify(winch, unix.SIGWINCH)
	signal.Notify(end, unix.SIGHUP, unix.SIGTERM)
	defer signal.Stop(winch)
	defer signal.Stop(end)
	if j.Kind == manifest.HostTmux {
		go j.callTmux()
	}
	lone := time.NewTimer(0) // when a held-back ESC was a key after all
	defer lone.Stop()
	for {
		in := frames
		if j.still != nil {
			in = nil // what comes after a picture is not to be in it
		}
		select {
		case <-j.still:
			j.still = nil
		case r := <-in:
			if res, over, err := j.frame(r); over {
				j.giveBack(res)
				return res, err
			}
		case p, ok := <-keys:
			if !ok { // the terminal is gone
				j.leave(protocol.LeaveHangup)
				return Result{Why: HungUp}, nil
			}
			if j.typed(p) {
				j.leave(protocol.LeaveDetach)
				j.giveBack(Result{Why: Detached})
				return Result{Why: Detached}, nil
			}
			if j.in.Held() {
				lone.Reset(keyWait)
			}
		case <-lone.C:
			if k := j.in.Flush(); len(k) > 0 {
				j.conn.Send(protocol.Input, k) //nolint:errcheck // the end shows in frames
			}
		case <-winch:
			j.resized()
		case <-end:
			j.leave(protocol.LeaveHangup)
			j.giveBack(Result{Why: HungUp}) // after a SIGTERM the terminal is still there
			return Result{Why: HungUp}, nil
		case <-ctx.Done():
			j.leave(protocol.LeaveDetach)
			j.giveBack(Result{Why: Detached})
			return Result{Why: Detached}, nil
		}
	}
}

// frame does what the supervisor says. over means that the joining has ended.
func (j *joining) frame(r received) (res Result, over bool, err error) {
	if r.err != nil {
		if errors.Is(r.err, io.EOF) {
			r.err = ErrLost
		}
		return Result{}, true, session.Errorf(session.Failed, "%w", r.err).
			WithHint("berth open %s", j.Hello.Run)
	}
	switch r.kind {
	case protocol.Output, protocol.Picture:
		j.out.Feed(r.payload) // for its modes: queries were taken out before
		j.midLine = !bytes.HasSuffix(r.payload, []byte("\n"))
		j.Out.Write(r.payload)
	case protocol.Role:
		if protocol.Decode(r.kind, r.payload, &j.role) == nil {
			j.takeRole()
		}
	case protocol.Query:
		j.asked++
		j.since = time.Now()
		j.in.Expect(screen.CPR)
		j.Out.Write(r.payload)
	case protocol.Fence:
		j.fence(func() { j.conn.Send(protocol.Fenced, nil) }) //nolint:errcheck // the end shows in frames
	case protocol.Snap:
		j.snap()
	case protocol.Begone:
		var l protocol.Leaving
		if err := protocol.Decode(r.kind, r.payload, &l); err != nil {
			return res, true, err
		}
		j.leave(protocol.LeaveDetach)
		if l.Reason == protocol.LeaveMoved {
			return Result{Why: Moved, To: l.To}, true, nil
		}
		return Result{Why: Detached}, true, nil
	case protocol.Look:
		j.countWatchers()
	case protocol.Refused:
		var refusal protocol.Refusal
		if err := protocol.Decode(r.kind, r.payload, &refusal); err != nil {
			return res, true, err
		}
		return res, true, refusal.Err()
	case protocol.Ended:
		var e protocol.Ending
		if err := protocol.Decode(r.kind, r.payload, &e); err != nil {
			return res, true, err
		}
		if e.Next { // the next client of the run follows on this connection, and its screen replaces this
			if again := time.Duration(e.AgainMS) * time.Millisecond; again > 0 {
				fmt.Fprintf(j.Out, "\x1b[m\x1b[999;1H\r\n[the agent ended: %s. It starts again in %s]", e.Message, again)
			}
			return res, false, nil
		}
		if j.Kind == manifest.HostTmux && !j.free {
			j.unsay()
		}
		return Result{Why: Over, Ending: e}, true, nil
	}
	return res, false, nil
}

// typed sends what was typed, and reports whether the detach key was.
func (j *joining) typed(p []byte) (detach bool) {
	r := j.in.Feed(p)
	if len(r.Keys) > 0 {
		j.conn.Send(protocol.Input, r.Keys) //nolint:errcheck // the end shows in frames
	}
	for _, reply := range r.Replies {
		switch {
		case j.asked > 0 && screen.NeedsScreen(screen.Query{Kind: reply.Kind}):
			j.asked--
			j.conn.Send(protocol.Reply, reply.Raw) //nolint:errcheck // the end shows in frames
		case len(j.passed) > 0 && reply.Kind == screen.DSR:
			then := j.passed[0]
			j.passed = j.passed[1:]
			then()
		} // any other is an answer to nobody's question
	}
	if r.Detach {
		j.after = bytes.Clone(r.After)
	}
	return r.Detach
}

func (j *joining) resized() {
	size, err := sizeOf(j.Out)
	if err != nil || size == j.size {
		return
	}
	j.size = size
	j.conn.SendJSON(protocol.Resize, size) //nolint:errcheck // the end shows in frames
}

// leave says why we go. A paste that is still open is closed for the agent.
func (j *joining) leave(reason string) {
	if p := j.in.ClosePaste(); len(p) > 0 {
		j.conn.Send(protocol.Input, p) //nolint:errcheck // leaving
	}
	j.conn.SendJSON(protocol.Leave, protocol.Leaving{Reason: reason}) //nolint:errcheck // leaving
}
