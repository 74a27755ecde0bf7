package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"berth/clients"
	"berth/internal/session"

	"golang.org/x/sys/unix"
)

// Status is what can be said of the server. Life is Live (running), Dead (no
// server runs) or Unknown, with the reason; only Dead lets another be started.
type Status struct {
	Life     clients.Liveness
	Record   Record // what is recorded; zero if nothing is
	Version  string // of the server that answered; "" if none did
	UserConf string // what tmux said when it read the person's own file; "" means nothing wrong
}

// Status tells whether the server runs, from the record and one bounded call. It
// changes nothing.
func (s *Server) Status(ctx context.Context) Status {
	r, err := s.ReadRecord()
	if err != nil {
		return Status{Life: clients.Liveness{Status: clients.Unknown, Reason: err.Error()}}
	}
	st := Status{Record: r}
	recorded := clients.Check(r.Server)
	g, err := s.hello(ctx, []string{"-N"})
	st.Version, st.UserConf = g.version, g.report
	switch {
	case err == nil && recorded.Status == clients.Live && r.Server.PID != g.pid:
		st.Life = clients.Liveness{Status: clients.Unknown,
			Reason: fmt.Sprintf("two servers live: process %d is recorded and %d answers", r.Server.PID, g.pid)}
	case err == nil:
		st.Life = clients.Liveness{Status: clients.Live, Reason: "it answers"}
	case !errors.Is(err, ErrNoServer):
		st.Life = clients.Liveness{Status: clients.Unknown, Reason: err.Error()}
	case r.Server.IsZero() || recorded.Status == clients.Dead:
		st.Life = clients.Liveness{Status: clients.Dead, Reason: err.Error()}
	case recorded.Status == clients.Live:
		st.Life = clients.Liveness{Status: clients.Unknown,
			Reason: fmt.Sprintf("process %d runs, and its socket %s is gone", r.Server.PID, s.Socket)}
	default:
		st.Life = recorded
	}
	return st
}

// RecoverSocket makes the recorded server listen on its socket again, after that
// was deleted or taken: tmux binds it anew on SIGUSR1. ErrNoServer: there is no
// recorded server, or it is dead. ErrTimeout: it lives and does not answer.
func (s *Server) RecoverSocket(ctx context.Context) error {
	r, err := s.ReadRecord()
	if err != nil {
		return err
	}
	gone := session.Errorf(session.NotFound, "%w on %s", ErrNoServer, s.Socket)
	if r.Server.IsZero() || r.Socket != s.Socket {
		return gone
	}
	switch life := clients.Check(r.Server); life.Status {
	case clients.Dead:
		return gone
	case clients.Unknown:
		return session.Errorf(session.Unknown, "%w: %s", ErrLost, life.Reason)
	}
	err = signalProcess(r.Server, unix.SIGUSR1)
	if errors.Is(err, clients.ErrNoProcess) { // it was just leaving
		return gone
	}
	if err != nil {
		return session.Errorf(session.Unknown, "%w: cannot wake process %d: %v", ErrLost, r.Server.PID, err)
	}
	// The server says nothing when it is done, so the socket is asked, bounded.
	deadline := time.Now().Add(s.Timeout)
	for time.Now().Before(deadline) {
		if _, err := os.Lstat(s.Socket); err == nil {
			if g, err := s.hello(ctx, []string{"-N"}); err == nil && g.pid == r.Server.PID {
				return nil
			} else if err != nil && !errors.Is(err, ErrNoServer) {
				return err
			}
		}
		if clients.Check(r.Server).Status == clients.Dead {
			return gone
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
	return session.Errorf(session.Unknown, "process %d runs, and its socket %s does not come back: %w", r.Server.PID, s.Socket, ErrTimeout)
}
