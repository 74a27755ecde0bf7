package supervisor

import (
	"slices"
	"time"

	"berth/internal/point"
	"berth/internal/protocol"
	"berth/internal/screen"
	"berth/internal/session"
	"berth/manifest"
)

// Times of a hand-over.
const (
	groundWait = 20 * time.Millisecond  // for the client to finish the sequence it is in
	pictureIn  = 500 * time.Millisecond // for the tmux pane's picture, on a loaded machine; 3 ms else
)

// How a host got its picture, as events say it.
const (
	pictureExact       = "exact"       // what the client's screen showed
	pictureRepainted   = "repainted"   // that, and the client was told of another size
	pictureApproximate = "approximate" // recent output: no pane showed the screen, or not in time
)

// handover is the keyboard on its way to a host. There is one at a time: a later one
// takes its place, and the earlier host is told who came.
type handover struct {
	to *host
}

// bring gives h the keyboard, whoever has it. At one place in the client's output,
// where no sequence is cut, the old holder gets its last byte and h a picture of the
// screen; every byte after it is for h. Input is the old holder's until then.
func (s *loop) bring(h *host) {
	if s.coming != nil {
		s.turnAway(s.coming.to, session.Errorf(session.Refused, "session %s was moved to %s meanwhile", s.spec.Session, h.info))
	}
	move := &handover{to: h}
	s.coming = move
	point.Here("supervisor.bringing")
	now := func(p *protocol.Snapshot) {
		if s.coming == move {
			s.coming = nil
			s.handOver(h, p)
		}
	}
	s.onGround(func() {
		if s.mirrors(h) {
			now(nil)
		} else {
			s.snapshot(h, now)
		}
	})
}

// mirrors reports whether h shows all of the client's screen already.
func (s *loop) mirrors(h *host) bool {
	return slices.Contains(s.hosts, h) && !h.stalled && h.fits(s.client.size)
}

// onGround calls f between two sequences of the client's output, or when it has not
// finished one in time.
func (s *loop) onGround(f func()) {
	if s.client.scanner.Ground() {
		f()
		return
	}
	timer := s.after(groundWait, s.landed)
	s.landing = append(s.landing, func() {
		timer.Stop()
		f()
	})
}

// landed calls those who wait for ground.
func (s *loop) landed() {
	waiting := s.landing
	s.landing = nil
	for _, f := range waiting {
		f()
	}
}

// snapshot has a tmux pane draw the client's screen as it is now, and calls then
// with it, or with nil where no pane shows all of it. The client's output waits for
// that, some milliseconds.
func (s *loop) snapshot(h *host, then func(*protocol.Snapshot)) {
	if d := s.drawing; d != nil { // for somebody who came just before: nothing was written since
		d.then = then
		return
	}
	i := slices.IndexFunc(s.hosts, func(m *host) bool {
		return m.info.Kind == manifest.HostTmux && m != h && !m.stalled && (m.resizing != nil || m.fits(s.client.size))
	})
	if i < 0 {
		then(nil)
		return
	}
	s.distribute(s.client.scanner.Flush()) // the pane has to have it, too
	d := &drawing{by: s.hosts[i], of: s.client, then: then}
	s.drawing = d
	if d.by.resizing == nil { // else it is asked then
		s.sendTo(d.by, protocol.Snap, nil)
	}
	d.limit = s.after(pictureIn, func() { s.drawn(d, nil) })
}

// drawing is a picture on its way from a tmux pane.
type drawing struct {
	by    *host
	of    *client
	then  func(*protocol.Snapshot)
	limit *time.Timer
}

// drawn ends a drawing with its picture, or nil.
func (s *loop) drawn(d *drawing, p *protocol.Snapshot) {
	if s.drawing != d {
		return
	}
	d.limit.Stop()
	s.drawing = nil
	if p != nil && (p.Err != "" || d.of != s.client || p.Size.Cols != s.client.size.Cols || p.Size.Rows != s.client.size.Rows) {
		p = nil
	}
	d.then(p)
}

// snapped takes a picture from a tmux host.
func (s *loop) snapped(h *host, payload []byte) {
	var p protocol.Snapshot
	if s.drawing != nil && s.drawing.by == h && protocol.Decode(protocol.Snapped, payload, &p) == nil {
		s.drawn(s.drawing, &p)
	}
}

// handOver gives h the keyboard now.
func (s *loop) handOver(h *host, p *protocol.Snapshot) {
	if err := s.closing(); err != nil {
		s.turnAway(h, err)
		return
	}
	old, mirrored := s.keyboard, s.mirrors(h)
	if !slices.Contains(s.hosts, h) {
		s.hosts = append(s.hosts, h)
	}
	if old != nil && old != h && old.info.Kind == manifest.HostTerminal {
		s.sendTo(old, protocol.Begone, protocol.Leaving{Reason: protocol.LeaveMoved, To: h.info.String()})
		s.hosts = slices.DeleteFunc(s.hosts, func(o *host) bool { return o == old })
		s.lowerFences(old)
		old.out.close()
	}
	before := s.client.size
	how := pictureExact
	if p != nil {
		rows, y := screen.Crop(p.Rows, p.Y, h.size.Rows)
		h.out.put(protocol.Picture, append([]byte(clearScreen), s.client.scanner.Modes().Paint(rows, p.X, y)...))
	}
	s.giveKeyboard(h)
	s.typed(h.early)
	h.early = nil
	if !h.fits(before) {
		how = pictureRepainted
	}
	if p == nil && !mirrored {
		s.draw(h)
		if !s.client.tail.Whole() {
			how = pictureApproximate
		}
	}
	s.askAgain()
	s.event("host joined", map[string]any{"kind": h.info.Kind, "pid": h.info.Process.PID, "keyboard": true, "picture": how})
	s.record()
	point.Here("supervisor.handed-over")
}

// turnAway refuses a host that had been welcomed. A mirror that was to have the
// keyboard stays one.
func (s *loop) turnAway(h *host, err error) {
	if slices.Contains(s.hosts, h) {
		return
	}
	s.sendTo(h, protocol.Refused, protocol.RefusalOf(err))
	h.out.close()
}

// dismiss turns away the hosts that wait for the keyboard: there is no client to
// type to any more.
func (s *loop) dismiss(why error) {
	s.dismissed = s.borrowers
	if s.coming != nil {
		s.dismissed = append(s.dismissed, s.coming.to)
	}
	s.borrowers, s.coming = nil, nil
	for _, h := range s.dismissed {
		s.turnAway(h, why)
	}
}

// take gives the keyboard to the tmux pane's host.
func (s *loop) take() error {
	i := slices.IndexFunc(s.hosts, func(h *host) bool { return h.info.Kind == manifest.HostTmux })
	if i < 0 {
		return session.Errorf(session.Failed, "session %s has no tmux pane that could take the keyboard", s.spec.Session).
			WithHint("berth attach %s", s.spec.Session)
	}
	if h := s.hosts[i]; h != s.keyboard || s.coming != nil {
		s.bring(h)
	}
	return nil
}
