package supervisor

import (
	"berth/internal/protocol"
	"berth/launcher"
	"berth/manifest"
)

// show puts output into a host's outbox. A mirror that cannot keep up skips ahead:
// it never slows anything. A holder is given time (see held).
func (s *loop) show(h *host, out []byte) {
	if h.stalled {
		return
	}
	if h.resizing != nil {
		if h.late = append(h.late, out...); len(h.late) > mirrorQueue {
			s.resized(h)
		}
		return
	}
	h.out.put(protocol.Output, out)
	waiting, sent := h.out.state()
	switch {
	case h != s.keyboard && waiting > mirrorQueue:
		s.stallHost(h)
	case h == s.keyboard && waiting > holderQueue && h.stall == nil:
		h.progress = sent
		s.watchProgress(h)
	}
}

// awaitSize has a mirror's output wait until its pane has taken on our size, which it
// was told: a screen that is not drawn again would come apart on another.
func (s *loop) awaitSize(h *host) {
	if h.resizing == nil && h.info.Kind == manifest.HostTmux && !h.fits(s.client.size) {
		h.resizing = s.after(resizeWait, func() { s.resized(h) })
	}
}

// resized lets a mirror's output go on.
func (s *loop) resized(h *host) {
	if h.resizing == nil {
		return
	}
	h.resizing.Stop()
	late := h.late
	h.resizing, h.late = nil, nil
	if len(late) > 0 {
		s.show(h, late)
	}
	if s.drawing != nil && s.drawing.by == h {
		s.sendTo(h, protocol.Snap, nil)
	}
	s.raiseFences(h)
}

// held reports whether the client has to wait: for the holder to take its bytes, or
// for a picture.
func (s *loop) held() bool {
	h := s.keyboard
	return s.drawing != nil || h != nil && !h.stalled && h.out.full()
}

// watchProgress looks at a slow holder again and again while it slows the client. One that
// makes progress loses nothing; one that makes none is stalled.
func (s *loop) watchProgress(h *host) {
	h.stall = s.after(stallAfter, func() {
		h.stall = nil
		waiting, sent := h.out.state()
		switch {
		case h.stalled || waiting <= holderQueue:
		case sent == h.progress:
			s.stallHost(h)
		default:
			h.progress = sent
			s.watchProgress(h)
		}
	})
}

// stallHost lets the client run on without h, which gets a picture when it wakes.
func (s *loop) stallHost(h *host) {
	h.stalled = true
	h.out.drop()
	s.event("host stalled", map[string]any{"kind": h.info.Kind, "pid": h.info.Process.PID})
}

// resume is called when some host has room again: one that was left behind gets a
// picture. That the holder has room shows in held.
func (s *loop) resume() {
	for _, h := range s.hosts {
		if h.stalled && h.out.moves() {
			h.stalled = false
			s.draw(h)
		}
	}
}

// clearScreen brings a host's terminal into default modes, its screen empty.
const clearScreen = "\x1b[!p\x1b[?1049l\x1b[m\x1b[H\x1b[2J"

// draw gives h the picture of the client's screen. While all the client ever wrote
// is at hand it is that; else the modes, the recent output, and a change of size
// that makes the client paint itself again.
func (s *loop) draw(h *host) {
	c := s.client
	picture := []byte(clearScreen)
	modes, tail, whole := c.scanner.Modes(), c.tail.Bytes(), c.tail.Whole()
	switch {
	case whole:
		picture = append(picture, tail...)
	case modes.AltScreen != 0: // entering it clears it, so it is entered first
		picture = append(append(picture, modes.Restore()...), tail...)
	default:
		picture = append(append(picture, tail...), modes.Restore()...)
	}
	h.out.put(protocol.Picture, picture)
	if whole || c.state != nil {
		return
	}
	small := c.size
	small.Rows += 1 - 2*min(1, small.Rows/2) // one row less, or more where there is one only
	s.warn(launcher.Resize(c.process.PTY, small))
	s.after(nudgeAfter, func() {
		if s.client == c && c.state == nil {
			s.warn(launcher.Resize(c.process.PTY, c.size))
		}
	})
}

// showAll draws the screen of a new client for every host.
func (s *loop) showAll() {
	for _, h := range s.hosts {
		s.tellRole(h)
		s.draw(h)
	}
}
