package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"

	"berth/clients"
	"berth/internal/protocol"
	"berth/internal/screen"
	"berth/launcher"
	"berth/manifest"
	"berth/tmux"
)

// handle takes one frame of a host.
func (s *loop) handle(f frame) {
	h := f.host
	if f.err != nil {
		s.leave(h, "crashed")
		h.conn.Close() //nolint:errcheck // it is gone
		return
	}
	switch f.kind {
	case protocol.Input:
		switch {
		case s.ending != nil:
		case h == s.keyboard:
			s.typed(f.payload)
		case s.coming != nil && s.coming.to == h, slices.Contains(s.borrowers, h):
			h.early = append(h.early, f.payload...)
		}
	case protocol.Resize:
		var size protocol.Size
		if protocol.Decode(f.kind, f.payload, &size) == nil && size.Valid() {
			h.size = size
			switch {
			case h == s.keyboard:
				s.resize(size)
			case !h.fits(s.client.size):
			case h.resizing != nil:
				s.resized(h)
			default: // a mirror has taken on our size: what it was shown before fell on another
				s.draw(h)
			}
		}
	case protocol.Reply:
		s.answered(h, f.payload)
	case protocol.Snapped:
		s.snapped(h, f.payload)
	case protocol.Fenced:
		s.fenced(h)
	case protocol.Watched:
		s.watched(h, f.payload)
	case protocol.Leave:
		var l protocol.Leaving
		if protocol.Decode(f.kind, f.payload, &l) == nil {
			s.leave(h, l.Reason)
			if l.Reason == protocol.LeaveHangup && h.info.Kind == manifest.HostTmux {
				s.paneHungUp(h.info)
			}
		}
	}
}

// typed passes on what the holder typed.
func (s *loop) typed(keys []byte) {
	if sub := s.client.submission; sub != nil && !sub.typed {
		sub.keys = append(sub.keys, keys...)
		return
	}
	if len(keys) > 0 {
		s.paste.Feed(keys)
		if keys[0] != '\x1b' { // else it is a report, or a key that writes nothing
			s.client.halfTyped = keys[len(keys)-1] != '\r'
		}
		s.client.pty.typeIn(typing{data: keys})
	}
}

// closePaste ends a paste that the holder has begun and will not finish: the agent
// would wait for its end for ever.
func (s *loop) closePaste() {
	if s.paste.PasteOpen() {
		s.client.pty.typeIn(typing{data: s.paste.ClosePaste()})
	}
	s.paste = screen.Input{NoDetach: true}
}

// watched notes how many people look at a tmux host's pane.
func (s *loop) watched(h *host, payload []byte) {
	var w protocol.Watchers
	if protocol.Decode(protocol.Watched, payload, &w) != nil {
		return
	}
	if h.info.Watchers != w.Count {
		h.watchedBy(w.Count, w.TTY)
		s.record()
		// Who came or went between that count and its record compared with the old
		// record, and did not ring: count again until two counts agree.
		s.sendTo(h, protocol.Look, nil)
	}
	if h == s.keyboard {
		s.lend()
	}
}

// sendTo queues a frame for h; a JSON document unless v is nil.
func (s *loop) sendTo(h *host, kind protocol.Type, v any) {
	var payload []byte
	if v != nil {
		b, err := json.Marshal(v)
		if err != nil {
			panic("internal error: " + err.Error())
		}
		payload = b
	}
	h.out.put(kind, payload)
}

// tellEnded tells the hosts that the client has ended, behind all that it wrote.
func (s *loop) tellEnded(e protocol.Ending) {
	for _, h := range s.hosts {
		s.resized(h)
		if h.stalled {
			h.stalled = false
			s.draw(h)
		}
		s.sendTo(h, protocol.Ended, e)
	}
}

// resize gives the client's terminal the holder's size, and mirrors with it.
func (s *loop) resize(size protocol.Size) {
	if size == s.client.size {
		return
	}
	s.client.size, s.spec.Client.Size = size, size
	s.warn(launcher.Resize(s.client.process.PTY, size))
	if s.client.scanner.Modes().InBandResize {
		s.client.pty.typeIn(typing{data: s.terminal().ResizeReport()})
	}
	for _, h := range s.hosts {
		if h != s.keyboard {
			s.tellRole(h)
			s.awaitSize(h)
		}
	}
}

// terminal is what we say we are.
func (s *loop) terminal() screen.Terminal {
	z := s.client.size
	return screen.Terminal{
		Cols: z.Cols, Rows: z.Rows, XPixel: z.XPixel, YPixel: z.YPixel,
		Dark: true, Modes: s.client.scanner.Modes(), Version: s.version,
	}
}

// paneHungUp finds out why a tmux host lost its terminal: the server is gone, and
// the client goes on; or it lives and the pane is no more, so somebody closed it by
// hand, which ends the client.
func (s *loop) paneHungUp(info manifest.Host) {
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), serverLostWait)
		defer cancel()
		server, err := clients.Open(info.Server)
		if err == nil {
			err = server.Wait(ctx)
			server.Close()
		} else if errors.Is(err, clients.ErrNoProcess) {
			err = nil
		}
		lost := err == nil
		if !lost { // it lives, or takes its time to end
			srv := tmux.New(tmux.Options{Socket: s.spec.Home.TmuxSocket(), Record: s.spec.Home.TmuxRecord(), Env: os.Environ()})
			_, err = srv.Watchers(context.Background(), info.Pane)
			lost = errors.Is(err, tmux.ErrNoServer)
		}
		switch {
		case lost:
			s.post(func() { s.event(manifest.EventServerLost, map[string]any{"server": info.Server.String()}) })
		case errors.Is(err, tmux.ErrNoSession) && !s.spec.KeepPane:
			s.post(func() {
				s.end(&ending{cause: clients.Asked, reason: "closed", by: "closing its tmux pane " + info.Pane}, s.spec.Spare)
			})
		}
	}()
}

// farewell gives the hosts a moment to take the last bytes.
func (s *loop) farewell() {
	ctx, cancel := context.WithTimeout(context.Background(), farewellWait) // for all of them
	defer cancel()
	all := slices.Concat(s.hosts, s.dismissed)
	for _, h := range all {
		h.out.close()
	}
	for _, h := range all {
		select {
		case <-h.out.ended:
		case <-ctx.Done():
		}
		h.conn.Close() //nolint:errcheck // leaving
	}
}
