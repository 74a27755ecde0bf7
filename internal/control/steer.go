package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"berth/internal/registry"
	"berth/internal/session"
	"berth/manifest"
	"berth/tmux"
)

// Stop ends the session's client and all its processes. Nothing running is success.
func (c *Control) Stop(ctx context.Context, ref string) (e Ended, err error) {
	err = c.withLaunchLock(ctx, ref, func(t target, release func()) error {
		e, err = c.end(ctx, t, manifest.RequestStop, manifest.ReasonStopped, release)
		if err == nil && !e.Asked {
			c.removePane(ctx, t)
		}
		return err
	})
	return e, err
}

// removePane removes the tmux session of a session that has no client any more.
// There may be none, or no tmux at all.
func (c *Control) removePane(ctx context.Context, t target) {
	err := c.Tmux.Kill(ctx, t.ID)
	if err != nil && !errors.Is(err, tmux.ErrNoServer) && !errors.Is(err, tmux.ErrNoSession) && !errors.Is(err, tmux.ErrNotInstalled) {
		c.Notice("session %s: its tmux session may still be there: %v", t.ID, err)
	}
}

// Restart ends the session's client, if any, and resumes the conversation in a new
// one; fresh starts a new conversation instead. With interrupted, ErrMeanwhile says that
// it is not interrupted, or not any more. It returns whether that was only asked for
// (from inside the session, which ends the caller).
func (c *Control) Restart(ctx context.Context, ref string, fresh, interrupted bool) (asked bool, id string, err error) {
	err = c.withLaunchLock(ctx, ref, func(t target, release func()) error {
		id = t.ID
		if interrupted && !c.wasInterrupted(t) {
			return ErrMeanwhile
		}
		if t.ClosedAt != nil {
			return closed(t)
		}
		if err := c.mayRestart(ctx, t, fresh); err != nil {
			return err
		}
		inside := c.inside(t)
		if inside && fresh {
			return session.Errorf(session.Refused, "session %s cannot be given a fresh conversation from inside itself", t.ID).
				WithHint("run this in another terminal: berth restart --fresh %s", t.ID)
		}
		kind, reason := manifest.RequestStop, manifest.ReasonRestarted
		if inside {
			kind = manifest.RequestRestart // the supervisor does it alone: we end with the rest
		}
		e, err := c.end(ctx, t, kind, reason, release)
		if err != nil {
			return err
		}
		if asked = e.Asked; asked {
			return nil
		}
		_, err = c.launch(ctx, t, start{fresh: fresh, clear: true})
		return err
	})
	return asked, id, err
}

// ErrMeanwhile says that somebody has seen to the session since it was interrupted.
var ErrMeanwhile = errors.New("somebody has started, stopped or completed it meanwhile")

// mayRestart checks, before anything is stopped, all that the next start needs.
func (c *Control) mayRestart(ctx context.Context, t target, fresh bool) error {
	agent, err := c.Agents.Get(t.Provider)
	if err != nil {
		return err
	}
	if err := usable(t.Cwd); err != nil {
		return session.Errorf(session.Failed, "cannot restart session %s: %w; nothing was stopped", t.ID, err)
	}
	if !fresh && !agent.CanResume() {
		return session.Errorf(session.Refused, "session %s cannot be resumed: provider %s has no way to; nothing was stopped", t.ID, agent.Name).
			WithHint("berth restart --fresh %s   # a new conversation", t.ID)
	}
	n, err := t.dir.Native()
	if err != nil {
		return session.Errorf(session.Unknown, "%w; nothing was stopped", err)
	}
	m, err := t.dir.Manifest()
	switch {
	case errors.Is(err, fs.ErrNotExist): // never launched, or lost: the launch knows which
	case err != nil:
		return session.Errorf(session.Unknown, "%w; nothing was stopped", err)
	case !fresh && n.NativeID != "":
		if err := c.sameIdentity(t, agent, m); err != nil {
			return err
		}
		if err := stillThere(t, n); err != nil {
			return fmt.Errorf("%w; nothing was stopped", err)
		}
	}
	return c.executable(t, agent, n.NativeID)
}

// Complete ends the session's client and closes the session for good. One that is
// closed already is success.
func (c *Control) Complete(ctx context.Context, ref string) (e Ended, already bool, err error) {
	err = c.withLaunchLock(ctx, ref, func(t target, release func()) error {
		already = t.ClosedAt != nil
		if c.inside(t) { // we may be ended with the rest: the decision is on disk first
			if err := c.heard(t); err != nil {
				return err
			}
			if err := c.close(ctx, t); err != nil {
				return err
			}
		}
		e, err = c.end(ctx, t, manifest.RequestStop, manifest.ReasonCompleted, release)
		if err != nil || e.Asked {
			return err
		}
		c.removePane(ctx, t)
		return c.close(ctx, t)
	})
	return e, already, err
}

func (c *Control) close(ctx context.Context, t target) error {
	if t.ClosedAt != nil {
		return nil
	}
	_, err := c.DB.Update(ctx, t.ID, t.Version, func(s *registry.Session) error {
		now := time.Now().UTC()
		s.ClosedAt = &now
		return nil
	})
	return err
}
