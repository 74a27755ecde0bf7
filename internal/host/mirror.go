package host

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"berth/internal/protocol"
	"berth/manifest"
	"berth/tmux"
)

// askStatus is a question every terminal answers when it has read all before it.
const askStatus = "\x1b[5n"

// snapWait is how long frames wait for a picture: the supervisor has given up by then.
const snapWait = 600 * time.Millisecond

// fence has then called when the pane has parsed all that it was sent before.
func (j *joining) fence(then func()) {
	j.passed = append(j.passed, then)
	j.Out.WriteString(askStatus)
}

// awaitRead waits until the pane has parsed all that it was sent: tmux throws away what
// it has not read of a pane whose process has ended.
func (j *joining) awaitRead(kb *keyboard) {
	read := false
	j.fence(func() { read = true })
	kb.drain(replyWait, func(p []byte) bool {
		j.typed(p)
		return !read
	})
}

// snap draws what the pane shows now. Until that is done, or has taken too long,
// nothing more is written to it.
func (j *joining) snap() {
	still := make(chan struct{})
	j.still = still
	done := sync.OnceFunc(func() { close(still) })
	time.AfterFunc(snapWait, done)
	j.fence(func() {
		go func() {
			defer done()
			p, err := j.Tmux.Picture(context.Background(), j.Info.Pane)
			s := protocol.Snapshot{Rows: p.Rows, X: p.X, Y: p.Y, Size: protocol.Size{Cols: p.Width, Rows: p.Height}}
			if err != nil {
				s.Err = err.Error()
			}
			j.conn.SendJSON(protocol.Snapped, s) //nolint:errcheck // the end shows in frames
		}()
	})
}

// callTmux makes the calls of a tmux host, one after the other, until the end. Each
// is bounded by itself. Bytes on the screen never wait for them.
func (j *joining) callTmux() {
	for {
		select {
		case call := <-j.work:
			call()
		case <-j.gone:
			return
		}
	}
}

func (j *joining) enqueue(call func()) {
	select {
	case j.work <- call:
	default: // tmux does not answer; what it would be told is overtaken anyway
	}
}

// takeRole follows the supervisor's word on who types. A tmux pane that mirrors
// takes on the holder's size and says who that is, and is free again when it has the
// keyboard.
func (j *joining) takeRole() {
	role := j.role
	if j.Kind != manifest.HostTmux || role.Keyboard && j.free {
		return
	}
	if !role.Keyboard && (j.free || j.own == protocol.Size{}) {
		j.own = j.size
	}
	j.free = role.Keyboard
	own := j.own
	j.enqueue(func() {
		ctx := context.Background()
		if !role.Keyboard {
			j.Tmux.ResizeWindow(ctx, j.Info.Pane, role.Size.Cols, role.Size.Rows) //nolint:errcheck // a pane of the wrong size is a flaw, no failure
			if role.Holder == "" {
				j.notice(ctx, "")
				return
			}
			j.notice(ctx, fmt.Sprintf(" looks on: the keyboard is at %s · berth attach --move %s takes it here ", role.Holder, j.Hello.Run))
			return
		}
		j.notice(ctx, "")
		if own != (protocol.Size{}) { // without a client tmux keeps whatever size there is
			j.Tmux.ResizeWindow(ctx, j.Info.Pane, own.Cols, own.Rows) //nolint:errcheck // see above
		}
		j.Tmux.UnpinWindow(ctx, j.Info.Pane) //nolint:errcheck // see above
	})
}

// notice says text to whoever looks at the pane. Only callTmux's goroutine calls it.
func (j *joining) notice(ctx context.Context, text string) {
	if j.noticed != nil && *j.noticed == text {
		return
	}
	j.noticed = &text
	j.Tmux.SetNotice(ctx, j.Info.Pane, text) //nolint:errcheck // what cannot be told is a flaw, no failure
}

// unsay takes the notice away, or gives up soon: the pane may be kept, and there is
// no keyboard any more that could be elsewhere.
func (j *joining) unsay() {
	done := make(chan struct{})
	j.enqueue(func() {
		j.notice(context.Background(), "")
		close(done)
	})
	select {
	case <-done:
	case <-time.After(snapWait):
	}
}

// countWatchers has the people who look at our pane counted, and says how many. Where
// tmux does not say, what we said before stands: a tmux that does not answer lets
// nobody come or type either.
func (j *joining) countWatchers() {
	j.enqueue(func() {
		if w, err := j.watchers(); err == nil {
			j.conn.SendJSON(protocol.Watched, w) //nolint:errcheck // the end shows in frames
		}
	})
}

// watchers are the people who look at our pane.
func (j *joining) watchers() (w protocol.Watchers, err error) {
	ttys, err := j.Tmux.Watchers(context.Background(), j.Info.Pane)
	if errors.Is(err, tmux.ErrNoSession) || errors.Is(err, tmux.ErrNoServer) {
		return w, nil
	}
	if w.Count = len(ttys); w.Count > 0 {
		w.TTY = ttys[0]
	}
	return w, err
}
