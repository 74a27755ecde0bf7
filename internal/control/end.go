package control

import (
	"context"
	"errors"
	"fmt"
	"os"

	"berth/clients"
	"berth/internal/session"
	"berth/launcher"
	"berth/lock"
	"berth/manifest"
)

// Ended is what ending a session's processes came to.
type Ended struct {
	Session    string   `json:"session"`
	Already    bool     `json:"already"` // nothing of it ran
	Asked      bool     `json:"asked"`   // from inside: asked for, and this process may be ended with it
	Ended      int      `json:"ended"`   // processes ended
	Left       []int    `json:"left"`    // pids that could not be ended
	Spared     []string `json:"spared"`  // left alone by configuration
	Unverified []int    `json:"unverified"`
}

// end ends the session's client and all its processes, for good or to be followed by
// another client. The caller holds the launch lock, which release gives up: from
// inside the tree the request is written under the lock and carried out without us.
func (c *Control) end(ctx context.Context, t target, kind, reason string, release func()) (Ended, error) {
	none := Ended{Session: t.ID, Left: []int{}, Spared: []string{}, Unverified: []int{}}
	if err := c.settle(ctx, t); err != nil {
		return none, err
	}
	if _, err := os.Lstat(string(t.dir)); errors.Is(err, os.ErrNotExist) {
		return c.endLost(ctx, t, none)
	}
	want := manifest.WantStopped
	if reason == manifest.ReasonRestarted || reason == manifest.ReasonMoved { // so that a crash before the next client is told from a stop
		want = manifest.WantRun
	}
	// What stands in the way of the next client does not stand in the way of a stop:
	// an agent that cannot be stopped goes on spending money.
	insists := func(err error) bool {
		if want != manifest.WantStopped {
			return false
		}
		c.Notice("session %s: %v; it is ended all the same", t.ID, err)
		return true
	}
	r, err := launcher.Look(t.dir, t.agent)
	if r.Life.Status == clients.Unknown {
		if err == nil {
			err = errors.New(r.Life.Reason)
		}
		return none, session.Errorf(session.Unknown, "cannot tell whether the client of session %s lives: %w; nothing was touched", t.ID, err).
			WithHint("%s", c.byHand(t))
	}
	if err != nil && !insists(err) {
		return none, err
	}
	supervised, err := c.supervised(t)
	if err != nil {
		return none, err
	}
	inside := c.inside(t)
	if inside && unheard(r, supervised) {
		return none, refuseInside(t)
	}
	if _, err := t.dir.SetWanted(want, c.by()); err != nil && !insists(err) {
		return none, err
	}
	if supervised && (r.Life.Status == clients.Live || r.Super.Phase == manifest.PhaseBackoff) {
		done, err := c.ask(ctx, t, r, kind, reason, inside, release)
		switch {
		case err == nil && inside:
			none.Asked = true
			return none, nil
		case err == nil:
			return c.verified(t, r, reason, none.with(done))
		case errors.Is(err, errSilent):
			c.Notice("session %s: its supervisor (pid %d) does not answer; taking over", t.ID, r.Super.Process.PID)
		case errors.Is(err, errLeft):
		case !errors.Is(err, errMute) || inside || !insists(err):
			return none, err
		}
	}
	return c.takeOver(ctx, t, r, reason, none)
}

// unheard reports whether a client lives that no supervisor would end for us. Inside
// it nobody can take over: we would end ourselves and leave the rest.
func unheard(r launcher.Readiness, supervised bool) bool {
	return r.Life.Status == clients.Live && !supervised
}

func refuseInside(t target) error {
	return session.Errorf(session.Unknown, "session %s has no supervisor, and this command runs inside it", t.ID).
		WithHint("run this in another terminal: berth stop %s", t.ID)
}

// heard refuses, from inside the session, what only a supervisor could carry out.
func (c *Control) heard(t target) error {
	r, err := launcher.Look(t.dir, t.agent)
	if err != nil {
		return err
	}
	supervised, err := c.supervised(t)
	if err == nil && unheard(r, supervised) {
		err = refuseInside(t)
	}
	return err
}

func (e Ended) with(d manifest.Done) Ended {
	e.Ended += d.Ended
	e.Left = append(e.Left, d.Left...)
	e.Spared = append(e.Spared, d.Spared...)
	e.Unverified = append(e.Unverified, d.Unverified...)
	return e
}

// endLost is for a session whose run directory is gone. Without a supervisor, what
// is left of it is found by the marks of the processes themselves.
func (c *Control) endLost(ctx context.Context, t target, e Ended) (Ended, error) {
	supervised, err := c.supervised(t)
	if err != nil {
		return e, err
	}
	if !supervised {
		return c.sweep(ctx, t, launcher.Readiness{}, "", e)
	}
	return e, session.Errorf(session.Unknown, "the run directory of session %s is gone (%s) while its supervisor lives: nobody can prove what belongs to it", t.ID, t.dir).
		WithHint("%s", c.byHand(t))
}

// byHand is the command that ends a session when we cannot tell what belongs to it.
func (c *Control) byHand(t target) string {
	if held, holder, err := lock.Held(c.Home.Locks(), t.ID, lock.Life); err == nil && held && holder.PID != 0 {
		return fmt.Sprintf("kill -TERM %d   # its supervisor, which ends the agent", holder.PID)
	}
	return "berth show " + t.ID
}

// everSupervised reports whether any supervisor ever took the session: lock files are
// never removed.
func (c *Control) everSupervised(t target) bool {
	return lock.Existed(c.Home.Locks(), t.ID, lock.Life)
}
