package control

import (
	"context"
	"errors"

	"berth/clients"
	"berth/internal/registry"
	"berth/internal/session"
	"berth/launcher"
	"berth/lock"
	"berth/tmux"
)

// Settled says what reconcile found of one session, and what it made of it.
type Settled struct {
	Session string        `json:"session"`
	Was     session.State `json:"was"`
	Is      session.State `json:"is"`
	Did     []string      `json:"did"`  // empty: there was nothing to do
	Left    string        `json:"left"` // why something was left alone, or ""
}

// Reconcile brings what is on record in line with what is so, for every session: half
// launches are settled, ends that nobody recorded are, missing tmux sessions are made
// and stale ones removed. A session that somebody is changing is left to them, and
// nothing is done about what cannot be told.
func (c *Control) Reconcile(ctx context.Context) ([]Settled, error) {
	out := []Settled{}
	for s, err := range c.DB.Each(ctx, registry.Filter{All: true}) {
		if err != nil {
			return out, err
		}
		r, err := c.reconcile(ctx, s.ID)
		if err != nil {
			r.Left = err.Error()
		}
		out = append(out, r)
		if ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
	}
	return append(out, c.removeOrphans(ctx)...), nil
}

// removeOrphans removes tmux sessions of this home that no session of it owns.
func (c *Control) removeOrphans(ctx context.Context) []Settled {
	var out []Settled
	panes, err := c.Tmux.Panes(ctx)
	if err != nil {
		return nil // no server, or none that answers: nothing is removed on a guess
	}
	for _, p := range panes {
		if _, err := c.DB.Session(ctx, p.Berth); err == nil || session.ClassOf(err) != session.NotFound {
			continue
		}
		s := Settled{Session: p.Berth, Was: session.StateUnknown, Is: session.StateUnknown, Did: []string{}}
		if err := c.Tmux.Kill(ctx, p.Berth); err != nil {
			s.Left = "its tmux session belongs to no session, and may still be there: " + err.Error()
		} else {
			s.Did = append(s.Did, "removed a tmux session that belongs to no session")
		}
		out = append(out, s)
	}
	return out
}

func (c *Control) reconcile(ctx context.Context, id string) (Settled, error) {
	out := Settled{Session: id, Did: []string{}}
	l, err := lock.Acquire(ctx, c.Home.Locks(), id, lock.Launch, c.Caller.Command, 0)
	var held *lock.HeldError
	if errors.As(err, &held) {
		out.Left = "it is being changed by " + held.Holder.String()
		return out, nil
	}
	if err != nil {
		return out, err
	}
	defer l.Release() //nolint:errcheck // closing a lock file cannot lose anything
	t, err := c.load(ctx, id)
	if err != nil {
		return out, err
	}
	out.Was = c.record(t).State
	out.Is = out.Was
	if !dirExists(string(t.dir)) {
		return out, nil // recorded, and never launched: the next open launches it
	}
	if stage, _, err := t.dir.Marker(); err == nil && stage != "" {
		if err := c.settle(ctx, t); err != nil {
			return out, err
		}
		out.Did = append(out.Did, "settled a launch left at "+string(stage))
	}
	r, err := launcher.Look(t.dir, t.agent)
	if err != nil {
		return out, err
	}
	switch r.Life.Status {
	case clients.Unknown:
		out.Left = r.Life.Reason
		return out, nil
	case clients.Live:
		if clients.Check(r.Super.Process).Status != clients.Live {
			out.Left = "its agent runs but its terminal is gone; berth restart " + id + " resumes the conversation"
			return out, nil
		}
		_, err := c.Tmux.Find(ctx, id)
		if errors.Is(err, tmux.ErrNoSession) || errors.Is(err, tmux.ErrNoServer) {
			if err = c.ensurePane(ctx, t); err == nil {
				out.Did = append(out.Did, "made its tmux session again")
			}
		}
		if err != nil {
			out.Left = "it runs, but has no tmux session: " + err.Error()
		}
	case clients.Dead:
		if busy, err := c.supervised(t); err != nil || busy {
			return out, err // a supervisor is just leaving, or starting the next client
		}
		if !r.Client.Receipt.Process.IsZero() && r.Client.End == nil {
			if err := c.recordLost(t, r, foundEnded(r), Ended{}); err != nil {
				return out, err
			}
			out.Did = append(out.Did, "recorded that its agent has ended: "+r.Life.Reason)
		}
		if p, err := c.Tmux.Find(ctx, id); err == nil && (!p.Dead || t.ClosedAt != nil) {
			if err := c.Tmux.Kill(ctx, id); err != nil {
				out.Left = "its tmux session may still be there: " + err.Error()
				break
			}
			out.Did = append(out.Did, "removed its tmux session")
		}
	}
	out.Is = c.record(t).State
	return out, nil
}
