package tmux

import (
	"context"
	"errors"
	"fmt"
)

// Kill ends the tmux session with berth's id and its pane, wherever people moved
// it. Nothing there is nil. The server compares the id in the same step, so no
// session that got the name or number since is touched. What ran in the pane gets
// SIGHUP, no more: ending its tree is not tmux's.
func (s *Server) Kill(ctx context.Context, id string) error {
	if !validID(id) {
		return badID(id)
	}
	out, err := s.query(ctx,
		"list-sessions", "-F", "#{?"+isSession(id)+",#{session_id},}", ";",
		"list-panes", "-a", "-F", "#{?"+isHost(id)+",#{pane_id},}")
	switch {
	case errors.Is(err, ErrNoServer) || errors.Is(err, ErrNoSession):
		return nil
	case err != nil:
		return err
	}
	var kill []string
	for _, t := range lines(out) {
		var cond, verb string
		switch {
		case hasID(t, '$'):
			cond, verb = isSession(id), "kill-session"
		case hasID(t, '%'):
			cond, verb = isHost(id), "kill-pane"
		default:
			return fmt.Errorf("cannot read tmux target %q", t)
		}
		target := t
		if verb == "kill-session" {
			target += ":" // a bare $1 is no pane, and if-shell looks for one
		}
		kill = append(kill, ";", "if-shell", "-F", "-t", target, cond, verb+" -t "+confWord(t))
	}
	if len(kill) == 0 {
		return nil
	}
	_, err = s.query(ctx, kill[1:]...)
	if errors.Is(err, ErrNoServer) || errors.Is(err, ErrNoSession) {
		return nil
	}
	return err
}

// ClosePane removes the pane called pane if it is the one of the session with berth's
// id; its tmux session goes with its last pane. For the program in the pane, before it
// ends with 0: by itself the server can miss that (see reap).
func (s *Server) ClosePane(ctx context.Context, pane, id string) error {
	if !hasID(pane, '%') || !validID(id) {
		return fmt.Errorf("cannot close pane %q of %q: not a pane", pane, id)
	}
	_, err := s.query(ctx, "if-shell", "-F", "-t", pane, isHost(id), "kill-pane -t "+confWord(pane))
	return err
}
