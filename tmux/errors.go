package tmux

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"berth/internal/session"
)

// What tmux answered. Every error of this package that means one of these wraps
// it, inside a session.Error that carries the class and the hint.
var (
	// About the binary.
	ErrNotInstalled = errors.New("tmux is not installed")
	ErrUnsupported  = errors.New("tmux is too old")

	// About the server. Only ErrNoServer says that there is none.
	ErrNoServer = errors.New("no tmux server is running")
	ErrTimeout  = errors.New("the tmux server does not answer")
	ErrProtocol = errors.New("the tmux server speaks another protocol")
	ErrLost     = errors.New("the tmux server cannot be reached")

	// About a session or pane.
	ErrNoSession = errors.New("no such tmux session")
	ErrDuplicate = errors.New("the tmux session exists already")
	ErrTooLong   = errors.New("the command line is too long for tmux")
	ErrNotDead   = errors.New("the pane is not a dead pane of this session")
)

// ExitError is a refusal of tmux. It never holds more of the command than its
// verb: the rest may be somebody's secret.
type ExitError struct {
	Verb   string // the first tmux command, such as new-session
	Stderr string // what tmux said, trimmed
	Stdout string // what it printed: errors in a configuration come here
	Status int    // its exit status; tmux fails with 0 at times
	Kind   error  // what that means, one of the errors above; nil if it has no name here
}

func (e *ExitError) Error() string {
	if e.Kind != nil {
		return fmt.Sprintf("%v (%s)", e.Kind, e.Stderr)
	}
	return fmt.Sprintf("tmux %s failed with status %d: %s", e.Verb, e.Status, e.Stderr)
}

func (e *ExitError) Unwrap() error { return e.Kind }

// texts maps what tmux prints to what it means. tmux exits 1 for all of them, so
// the text alone tells "not there" from "could not tell".
var texts = []struct {
	text string // a pattern, compiled when tmux fails
	kind error
}{
	{`protocol version mismatch|server version is too old`, ErrProtocol},
	{`no server running|server exited|lost server`, ErrNoServer}, // "unexpectedly", or while it was ending
	{`error connecting to .*\((No such file or directory|Connection refused)\)`, ErrNoServer},
	{`duplicate session`, ErrDuplicate},
	{`can't find (session|window|pane)|no such (session|window)|no current (target|client)`, ErrNoSession},
	{`command too long`, ErrTooLong},
}

func kindOf(stderr string) error {
	for _, t := range texts {
		if regexp.MustCompile(t.text).MatchString(stderr) {
			return t.kind
		}
	}
	return nil
}

// failed makes an error of what a client said.
func (s *Server) failed(exit *ExitError) error {
	exit.Stderr = strings.TrimSpace(exit.Stderr)
	if strings.Contains(exit.Stderr, "error creating") { // a server was to be started, and could not be
		return session.Errorf(session.Failed, "cannot start a tmux server on %s: %w", s.Socket, exit)
	}
	exit.Kind = kindOf(exit.Stderr)
	switch exit.Kind {
	case nil:
		return exit
	case ErrNoServer, ErrNoSession:
		return session.Errorf(session.NotFound, "%w", exit)
	case ErrDuplicate:
		return session.Errorf(session.Refused, "%w", exit)
	case ErrProtocol:
		return session.Errorf(session.Unknown, "%w: tmux was upgraded under the server on %s", exit, s.Socket).
			WithHint("its sessions go on; use the old tmux binary, or end that server: sessions stay without tmux too")
	default:
		return session.Errorf(session.Failed, "cannot run tmux %s: %w", exit.Verb, exit)
	}
}

func (s *Server) interrupted(verb string, cause error) error {
	if errors.Is(cause, context.DeadlineExceeded) {
		return session.Errorf(session.Unknown, "cannot tell whether tmux %s was done: %w on %s", verb, ErrTimeout, s.Socket)
	}
	return fmt.Errorf("tmux %s: %w", verb, cause)
}

func notInstalled(cause error) error {
	return session.Errorf(session.Failed, "%w, or cannot be run (%v)", ErrNotInstalled, cause).
		WithHint("install tmux 3.2 or newer and see that it is in PATH; without it, berth works in terminals only")
}
