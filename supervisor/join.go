package supervisor

import (
	"slices"
	"time"

	"berth/clients"
	"berth/internal/protocol"
	"berth/internal/session"
	"berth/manifest"
)

// purposes are what a connection can be for.
var purposes = []string{protocol.AsHost, protocol.AsBell, protocol.AsLook, protocol.AsFence, protocol.AsTake, protocol.AsSend}

// greeting is what we say of ourselves.
func (s *loop) greeting(as string) protocol.Greeting {
	g := protocol.Greeting{
		Protocol: protocol.Version, MinProtocol: protocol.MinVersion, Version: s.version,
		Run: s.spec.Run, Boot: clients.Machine().Boot, Supervisor: clients.Self(), NativeID: s.native.NativeID, As: as,
	}
	if s.client != nil {
		g.Client = s.client.process.Process
	}
	return g
}

// greet hears a hello, in a goroutine of its own, and hands it to the loop.
func (s *loop) greet(c *protocol.Conn) {
	c.SetDeadline(time.Now().Add(handshakeWait)) //nolint:errcheck // a dead connection fails at once below
	kind, payload, err := c.Recv()
	var g protocol.Greeting
	if err == nil && kind == protocol.Hello {
		err = protocol.Decode(kind, payload, &g)
	}
	if err != nil || kind != protocol.Hello {
		c.Close() //nolint:errcheck // it does not speak our language
		return
	}
	c.SetDeadline(time.Time{}) //nolint:errcheck // as above
	joined := make(chan *host, 1)
	s.post(func() { joined <- s.welcome(c, g) })
	select {
	case h := <-joined:
		if h != nil {
			s.receive(h)
		}
	case <-s.gone:
		c.Close() //nolint:errcheck // we are leaving
	}
}

// welcome answers a hello. It returns the host to receive from, or nil if c is
// done with.
func (s *loop) welcome(c *protocol.Conn, g protocol.Greeting) *host {
	chosen, err := protocol.Negotiate(g.MinProtocol, g.Protocol)
	if err == nil {
		err = protocol.Match(s.greeting(g.As), g)
	}
	if err == nil && g.As == protocol.AsHost {
		err = s.mayJoin(g)
	}
	if err == nil && !slices.Contains(purposes, g.As) {
		err = session.Errorf(session.Failed, "this supervisor does not know a connection as %q", g.As)
	}
	if err == nil && g.As == protocol.AsTake {
		err = s.take()
	}
	if err == nil && g.As == protocol.AsSend {
		err = s.maySend(g.Message)
	}
	if err != nil {
		go refuse(c, err)
		return nil
	}
	w := s.greeting(g.As)
	w.Protocol = chosen
	if g.As == protocol.AsFence {
		s.addFence(c, w)
		return nil
	}
	if g.As == protocol.AsSend {
		s.send(c, w, *g.Message)
		return nil
	}
	if g.As != protocol.AsHost {
		for _, h := range s.hosts {
			if g.As == protocol.AsLook && h.info.Kind == manifest.HostTmux {
				s.sendTo(h, protocol.Look, nil)
			}
		}
		s.takeInbox()
		s.takeRequests()
		go func() {
			c.SendJSON(protocol.Welcome, w) //nolint:errcheck // the bell has rung either way
			c.Close()                       //nolint:errcheck // see above
		}()
		return nil
	}
	h := newHost(c, g)
	h.info.Since = rfc3339(time.Now())
	go h.send(s.wake)
	s.sendTo(h, protocol.Welcome, w)
	switch {
	case h.info.Kind == manifest.HostTmux || h.want == protocol.WantMirror:
		s.join(h, h.want != protocol.WantMirror && s.keyboard == nil)
	case h.want == protocol.WantKeyboard && s.coming != nil:
		s.turnAway(h, s.heldBy(s.coming.to))
	case h.want == protocol.WantKeyboard && s.keyboard != nil:
		s.borrow(h)
	default:
		s.bring(h)
	}
	return h
}

func refuse(c *protocol.Conn, err error) {
	c.SetDeadline(time.Now().Add(handshakeWait))          //nolint:errcheck // a dead connection fails at once below
	c.SendJSON(protocol.Refused, protocol.RefusalOf(err)) //nolint:errcheck // it went away
	c.Close()                                             //nolint:errcheck // done
}

// mayJoin refuses hosts that cannot be let in at all.
func (s *loop) mayJoin(g protocol.Greeting) error {
	if err := s.closing(); err != nil {
		return err
	}
	if !g.Size.Valid() {
		return session.Errorf(session.Usage, "a terminal of %d by %d cannot be used", g.Size.Cols, g.Size.Rows)
	}
	return nil
}

// closing is why nobody can join any more: the client is being ended, or has ended.
func (s *loop) closing() error {
	switch {
	case s.ending != nil:
		return session.Errorf(session.Stale, "session %s is being %s by %s", s.spec.Session, s.ending.reason, orSomebody(s.ending.by))
	case s.client.state != nil:
		return session.Errorf(session.Stale, "the client of session %s has just ended", s.spec.Session)
	}
	return nil
}

// heldBy is the refusal of somebody who wants the keyboard that h has.
func (s *loop) heldBy(h *host) error {
	return session.Errorf(session.Refused, "session %s is held by %s", s.spec.Session, h.info).
		WithHint("berth open --move %s   # takes it here; berth attach --read-only %[1]s looks only", s.spec.Session)
}

func orSomebody(by string) string {
	if by == "" {
		return "somebody"
	}
	return by
}

// borrow lets a terminal have the keyboard of a pane that nobody looks at. Only the
// pane's host can tell, from tmux: it is asked now, and what it said before counts
// when it does not answer. A terminal that has the keyboard may have left before h
// came: two connections bring their words in any order, so those are heard first.
func (s *loop) borrow(h *host) {
	s.borrowers = append(s.borrowers, h)
	if s.keyboard.info.Kind == manifest.HostTerminal {
		s.after(partingWait, s.lend)
		return
	}
	s.sendTo(s.keyboard, protocol.Look, nil)
	s.after(lookWait, s.lend)
}

// lend decides about the terminals that wait for the keyboard, in their order.
func (s *loop) lend() {
	if k := s.keyboard; k != nil && len(s.borrowers) > 0 && k.info.Kind == manifest.HostTerminal && clients.Check(k.info.Process).Status == clients.Dead {
		s.after(partingWait, s.lend) // it has left, and its last words are on their way
		return
	}
	waiting := s.borrowers
	s.borrowers = nil
	for _, h := range waiting {
		if s.coming != nil {
			s.turnAway(h, s.heldBy(s.coming.to))
			continue
		}
		if s.keyboard != nil && (s.keyboard.info.Kind == manifest.HostTerminal || s.keyboard.info.Holds()) {
			s.turnAway(h, s.heldBy(s.keyboard))
			continue
		}
		s.bring(h)
	}
}

// join takes h in, with the keyboard or as a mirror.
func (s *loop) join(h *host, keyboard bool) {
	s.hosts = append(s.hosts, h)
	if keyboard {
		s.giveKeyboard(h)
	} else {
		s.tellRole(h)
	}
	s.draw(h)
	s.askAgain()
	s.raiseFences(h)
	if h.info.Kind == manifest.HostTmux {
		s.sendTo(h, protocol.Look, nil) // who came while it joined found no record of it to compare with
	}
	s.event("host joined", map[string]any{"kind": h.info.Kind, "pid": h.info.Process.PID, "keyboard": h == s.keyboard})
	s.record()
}

// giveKeyboard makes h the one who types; nil is nobody. Its size becomes the
// client's.
func (s *loop) giveKeyboard(h *host) {
	if h != s.keyboard {
		s.closePaste()
	}
	s.keyboard = h
	if h != nil {
		s.resized(h)
		h.info.Keyboard = true
		s.resize(h.size)
	}
	for _, other := range s.hosts {
		other.info.Keyboard = other == h
		s.tellRole(other)
	}
}

func (s *loop) tellRole(h *host) {
	r := protocol.RoleChange{Keyboard: h == s.keyboard, Size: s.client.size}
	if s.keyboard != nil && h != s.keyboard {
		r.Holder = s.keyboard.info.String()
	}
	s.sendTo(h, protocol.Role, r)
}

// leave forgets a host. The keyboard goes back to the tmux host, else to nobody.
func (s *loop) leave(h *host, reason string) {
	h.out.close()
	s.borrowers = slices.DeleteFunc(s.borrowers, func(b *host) bool { return b == h })
	if s.coming != nil && s.coming.to == h {
		s.coming = nil
	}
	i := slices.Index(s.hosts, h)
	if i < 0 {
		return
	}
	s.hosts = slices.Delete(s.hosts, i, i+1)
	if h == s.keyboard {
		next := slices.IndexFunc(s.hosts, func(o *host) bool { return o.info.Kind == manifest.HostTmux })
		if next >= 0 {
			back := s.hosts[next]
			behind := back.stalled || !back.fits(s.client.size) // else it has mirrored all there was
			s.giveKeyboard(back)
			if behind {
				s.draw(back)
			}
		} else {
			s.giveKeyboard(nil)
		}
		s.askAgain()
	}
	s.lowerFences(h)
	if s.drawing != nil && s.drawing.by == h {
		s.drawn(s.drawing, nil)
	}
	s.event("host left", map[string]any{"kind": h.info.Kind, "pid": h.info.Process.PID, "reason": reason})
	s.record()
}
