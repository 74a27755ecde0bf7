package supervisor

import (
	"slices"
	"time"

	"berth/internal/protocol"
	"berth/manifest"
)

// fence is a command that waits until the tmux pane shows all that the client has
// written so far.
type fence struct {
	conn    *protocol.Conn
	welcome protocol.Greeting
	at      *host // who was asked; nil: no tmux host has joined yet
}

// addFence asks the tmux host, or the next one to join. After fenceWait the command
// is told nothing and hung up on.
func (s *loop) addFence(c *protocol.Conn, w protocol.Greeting) {
	f := &fence{conn: c, welcome: w}
	s.fences = append(s.fences, f)
	s.raiseAll()
	s.after(fenceWait, func() {
		if i := slices.Index(s.fences, f); i >= 0 {
			s.fences = slices.Delete(s.fences, i, i+1)
			c.Close() //nolint:errcheck // it gave up too
		}
	})
}

// raiseAll asks the tmux hosts there are.
func (s *loop) raiseAll() {
	for _, h := range s.hosts {
		s.raiseFences(h)
	}
}

// raiseFences asks h, if it is a tmux host, for every fence that nobody was asked for.
// A client that has just started is given time to say that it is ready: its screen is
// blank until then.
func (s *loop) raiseFences(h *host) {
	if h.info.Kind != manifest.HostTmux || h.resizing != nil || !s.client.ready && time.Since(s.phaseSince) < fenceWait {
		return
	}
	for _, f := range s.fences {
		if f.at == nil {
			f.at = h
			s.sendTo(h, protocol.Fence, nil)
		}
	}
}

// fenced answers the oldest of h's fences.
func (s *loop) fenced(h *host) {
	i := slices.IndexFunc(s.fences, func(f *fence) bool { return f.at == h })
	if i < 0 {
		return
	}
	f := s.fences[i]
	s.fences = slices.Delete(s.fences, i, i+1)
	go func() {
		f.conn.SendJSON(protocol.Welcome, f.welcome) //nolint:errcheck // it went away
		f.conn.Close()                               //nolint:errcheck // done
	}()
}

// lowerFences has h's fences wait for the next tmux host: it left.
func (s *loop) lowerFences(h *host) {
	for _, f := range s.fences {
		if f.at == h {
			f.at = nil
		}
	}
}
