package control

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"berth/internal/session"
	"berth/manifest"
)

// settle brings a launch that somebody left half-way to an end, and says what it
// found. The caller holds the launch lock, so its launcher is gone; a supervisor may
// still be at work, until the launch's deadline. The step that gives the launch up
// is a rename, which a late supervisor can only lose.
func (c *Control) settle(ctx context.Context, t target) error {
	w := manifest.Watch(string(t.dir))
	defer w.Close()
	first := true
	for {
		stage, m, err := t.dir.Marker()
		if errors.Is(err, fs.ErrNotExist) || err == nil && stage == manifest.NoMarker {
			return nil
		}
		if err != nil {
			return session.Errorf(session.Unknown, "%w", err)
		}
		if first {
			c.Notice("session %s: an earlier start by pid %d is half done (%s); settling it", t.ID, m.Owner.PID, stage)
			first = false
		}
		to := manifest.Expired
		wait := m.Remaining()
		switch stage {
		case manifest.Prepared: // its launcher is gone and nobody else may claim it
			to, wait = manifest.Withdrawn, 0
		case manifest.Supervised:
			alive, err := c.supervised(t)
			if err != nil {
				return err
			}
			if !alive {
				wait = 0
			}
		}
		if m.Overdue() {
			wait = 0
		}
		if wait > 0 {
			if err := c.pause(ctx, w, wait); err != nil {
				return err
			}
			continue
		}
		err = t.dir.Advance(stage, to)
		if err == nil {
			c.Notice("session %s: that start is %s; nothing of it runs", t.ID, to)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
}

// pause waits for a hint, for d, or for the end of ctx, which is an error.
func (c *Control) pause(ctx context.Context, w *manifest.Watcher, d time.Duration) error {
	timer := time.NewTimer(min(d, 250*time.Millisecond)) // a lock that falls free gives no hint
	defer timer.Stop()
	select {
	case <-w.C:
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}
