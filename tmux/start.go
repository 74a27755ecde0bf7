package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"berth/clients"
	"berth/internal/session"
)

// retryPause is between two tries at a server that is just ending or just coming.
const retryPause = 5 * time.Millisecond

// pause waits a little, or ends with ctx.
func pause(ctx context.Context) error {
	t := time.NewTimer(retryPause)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// ensure makes sure that a server is there and reports whether it had to start
// one, or says why none may be started.
func (s *Server) ensure(ctx context.Context) (started bool, err error) {
	r, err := s.ReadRecord()
	if err != nil {
		return false, err
	}
	if r.Server.IsZero() {
		return true, s.start(ctx)
	}
	switch life := clients.Check(r.Server); life.Status {
	case clients.Dead:
		return true, s.start(ctx)
	case clients.Live:
		return false, nil // and query brings its socket back if that was lost
	default:
		// Another host's or container's: it is used if it answers here.
		if _, err := s.hello(ctx, []string{"-N"}); err != nil {
			return false, session.Errorf(session.Unknown, "cannot start a tmux server on %s: the recorded one (process %d) may be running: %s: %w",
				s.Socket, r.Server.PID, life.Reason, ErrLost)
		}
		return false, nil
	}
}

func (s *Server) unstable() error {
	return session.Errorf(session.Failed, "cannot keep a tmux server on %s: each one ended at once: %w", s.Socket, ErrNoServer)
}

// greeting is what a server says of itself.
type greeting struct {
	pid     int
	version string
	report  string // what reading the person's own file said
}

const greetingFormat = "#{pid}\t#{version}\t#{@berth_user_conf_report}"

func parseGreeting(out string) (greeting, error) {
	f := strings.SplitN(strings.TrimSuffix(out, "\n"), "\t", 3)
	if len(f) != 3 {
		return greeting{}, fmt.Errorf("cannot read tmux server %q", out)
	}
	pid, err := strconv.ParseUint(f[0], 10, 31)
	if err != nil || pid == 0 || f[1] == "" {
		return greeting{}, fmt.Errorf("cannot read tmux server %q", out)
	}
	return greeting{pid: int(pid), version: f[1], report: f[2]}, nil
}

// hello asks the server who it is, after the command before, if any.
func (s *Server) hello(ctx context.Context, flags []string, before ...string) (greeting, error) {
	out, err := s.call(ctx, nil, flags, append(before, "display-message", "-p", greetingFormat)...)
	if err != nil {
		return greeting{}, err
	}
	return parseGreeting(string(out))
}

// start starts the server, or joins the one that another process just started:
// tmux holds its own lock over that. The server is its own process session, with
// the caller's umask and limits and with Env, for as long as it lives.
func (s *Server) start(ctx context.Context) error {
	if err := s.Supported(ctx); err != nil {
		return err
	}
	for what, path := range map[string]string{"configuration": s.Conf, "socket directory": filepath.Dir(s.Socket)} {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("cannot start a tmux server without its %s: %w", what, err)
		}
	}
	for range startTries {
		g, err := s.hello(ctx, []string{"-f", s.Conf}, "start-server", ";")
		if err == nil {
			var id clients.Identity
			if id, err = clients.Of(g.pid); err == nil {
				return s.remember(id, g.version)
			}
		}
		// A server that is just ending (kill-server) says so to 2 of 30.
		if !errors.Is(err, ErrNoServer) && !errors.Is(err, clients.ErrNoProcess) {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
	return s.unstable()
}

// confirm checks that the pane's server is the recorded one, and records it if
// that one is dead. If both live, somebody started the pane's server beside
// berth's: the new session is taken back.
func (s *Server) confirm(ctx context.Context, p Pane) error {
	r, err := s.ReadRecord()
	if err != nil || r.Server.PID == p.ServerPID {
		return err
	}
	switch life := clients.Check(r.Server); {
	case life.Status == clients.Live:
		err := session.Errorf(session.Unknown, "two tmux servers live for %s: process %d is recorded and %d answers: %w", s.Socket, r.Server.PID, p.ServerPID, ErrLost).
			WithHint("look at both, end the one without sessions (kill %d or kill %d), and try again", r.Server.PID, p.ServerPID)
		return errors.Join(err, s.Kill(ctx, p.Berth))
	case life.Status == clients.Unknown && !r.Server.IsZero():
		return nil // another container's: not ours to record
	}
	id, err := clients.Of(p.ServerPID)
	if err != nil {
		return err
	}
	g, err := s.hello(ctx, []string{"-N"})
	if err != nil {
		return err
	}
	return s.remember(id, g.version)
}
