package supervisor

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"berth/internal/atomicfile"
	"berth/internal/protocol"
	"berth/internal/screen"
	"berth/internal/session"
	"berth/manifest"
)

// How long an agent may take to show that it has taken a message: one that might have
// missed the end of it, before that is typed again, and any before it counts as unproven.
const (
	againAfter = 1500 * time.Millisecond
	proofWait  = 10 * time.Second
)

// submission is a message on its way to the agent.
type submission struct {
	typed  bool
	again  int // how often its end may be typed again
	began  time.Time
	proven bool   // the agent's turn has begun
	keys   []byte // what the holder typed meanwhile: it comes after
	done   func(proven bool)
}

// submit types a message and its end, and calls done when the agent's turn has begun, or
// will not be seen to. typed is called when it is all typed.
func (s *loop) submit(text []byte, typed func(), done func(proven bool)) {
	c, keys := s.client, s.spec.Provider.Submit
	sub := &submission{again: keys.Again, done: done}
	c.submission = sub
	paste := typing{data: screen.Paste(text, c.scanner.Modes().BracketedPaste)}
	off := typing{data: []byte(keys.Keys), then: func() {
		go s.post(func() {
			sub.typed, sub.began = true, time.Now()
			s.typed(sub.keys)
			typed()
			s.prove(c, sub)
		})
	}}
	if keys.Delay == 0 && len(c.signs) == 0 { // nothing to wait for, nor to look at
		c.pty.typeIn(paste)
		c.pty.typeIn(off)
		return
	}
	paste.then = func() {
		s.after(keys.Delay, func() {
			if s.client != c || c.state != nil || s.asks() { // what sends a message off would answer a dialog
				s.event("message not sent off", map[string]any{"turn": c.turn.State, "waiting_for": c.turn.WaitingFor})
				c.submission = nil
				s.typed(sub.keys)
				done(false)
				return
			}
			c.pty.typeIn(off)
		})
	}
	c.pty.typeIn(paste)
}

// asks reports whether the agent says that it asks something, or, before its first turn,
// shows that it does: after that its screen is full of what is said.
func (s *loop) asks() bool {
	c := s.client
	switch {
	case c.turn.State == manifest.TurnWaiting, c.turn.State == manifest.TurnBlocked:
		return true
	case c.worked:
		return false
	}
	sign, ok := s.dialog()
	if ok {
		sign.Turn = manifest.TurnWaiting // it has been ready
		s.merge(sign.announcement())
	}
	return ok
}

// prove ends a submission that is proven, or cannot be, and looks again later at any
// other.
func (s *loop) prove(c *client, sub *submission) {
	switch {
	case c.submission != sub || !sub.typed:
		return
	case sub.proven || c.state != nil || !s.spec.Provider.TellsTurns() || time.Since(sub.began) >= proofWait:
		c.submission = nil
		sub.done(sub.proven)
		return
	}
	wait := proofWait - time.Since(sub.began)
	if sub.again > 0 {
		wait = min(wait, againAfter)
	}
	s.after(wait, func() {
		if c.submission == sub && !sub.proven && sub.again > 0 && c.state == nil && c.turn.State == manifest.TurnIdle && !s.asks() {
			sub.again--
			c.pty.typeIn(typing{data: []byte(s.spec.Provider.Submit.Keys)})
		}
		s.prove(c, sub)
	})
}

// maySend refuses a message that cannot be typed now.
func (s *loop) maySend(m *protocol.Message) error {
	c, id := s.client, s.spec.Session
	refused := func(format string, args ...any) *session.Error {
		return session.Errorf(session.Refused, "session %s "+format, append([]any{id}, args...)...)
	}
	if err := s.closing(); err != nil {
		return err
	}
	switch {
	case m == nil || !session.ValidName(m.ID) || len(m.Text) == 0:
		return session.Errorf(session.Usage, "a message needs a name and a text")
	case s.wasSent(m.ID):
		return nil
	case !c.ready && c.turn.State == manifest.TurnBlocked:
		return refused("is blocked: %s waits for %s", s.spec.Provider.Name, c.turn.WaitingFor).WithHint("berth open %s", id)
	case !c.ready:
		return refused("is not ready for a message yet").WithHint("berth wait %s --for idle", id)
	case c.turn.State == manifest.TurnWaiting:
		return refused("waits for %s since %s", orSomething(c.turn.WaitingFor), c.turn.Since).WithHint("berth open %s", id)
	case c.turn.State == manifest.TurnBusy:
		return refused("is busy since %s", c.turn.Since).WithHint("berth wait %s --for idle", id)
	case c.submission != nil || c.prompt == manifest.PromptWaiting || c.prompt == manifest.PromptSending:
		return refused("is being sent another message").WithHint("berth wait %s --for idle", id)
	case c.halfTyped && s.keyboard != nil:
		return refused("has a message half typed at %s", s.keyboard.info).WithHint("berth open %s --move", id)
	}
	return nil
}

func orSomething(what string) string {
	if what == "" {
		return "an answer"
	}
	return what
}

func (s *loop) sentPath(id string) string { return s.dir.Path("sent", id+".json") }

func (s *loop) wasSent(id string) bool {
	_, err := os.Lstat(s.sentPath(id))
	return err == nil
}

// sent is a message's mark in the run directory: there before its first byte goes out,
// so that whoever finds it never sends the message again. Its text is not kept.
type sent struct {
	SchemaVersion int    `json:"schema_version"`
	ID            string `json:"id"`
	At            string `json:"at"`
}

// send types a message that maySend let in, and tells its sender how that went.
func (s *loop) send(c *protocol.Conn, w protocol.Greeting, m protocol.Message) {
	tell := func(r protocol.Receipt) {
		go func() {
			defer c.Close()                              //nolint:errcheck // done
			c.SetDeadline(time.Now().Add(handshakeWait)) //nolint:errcheck // a dead connection fails at once below
			if c.SendJSON(protocol.Welcome, w) == nil {
				c.SendJSON(protocol.Taken, r) //nolint:errcheck // they went away, and can ask again by its name
			}
		}()
	}
	err := os.Mkdir(s.dir.Path("sent"), 0o700)
	if err == nil || errors.Is(err, fs.ErrExist) {
		err = atomicfile.CreateJSON("sent", s.sentPath(m.ID), sent{manifest.Schema, m.ID, rfc3339(time.Now())})
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		tell(protocol.Receipt{Already: true})
		return
	case err != nil:
		go refuse(c, session.Errorf(session.Failed, "nothing was sent: %w", err))
		return
	}
	s.submit([]byte(m.Text), func() {
		s.event("message typed", map[string]any{"id": m.ID})
	}, func(proven bool) {
		s.event("message sent", map[string]any{"id": m.ID, "proven": proven})
		tell(protocol.Receipt{Proven: proven})
	})
}
