package control

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"berth/clients"
	"berth/internal/point"
	"berth/internal/session"
	"berth/launcher"
	"berth/lock"
	"berth/manifest"
)

// takeOver ends the processes of a session whose supervisor is dead or silent. The
// supervisor is ended first, so that it cannot wake and act; if it cannot be proved
// gone, nothing else is touched.
//
// What is of the run is looked up before, too: orphans that the supervisor had taken in
// are nobody's when it is gone.
func (c *Control) takeOver(ctx context.Context, t target, r launcher.Readiness, reason string, e Ended) (Ended, error) {
	before, err := c.scan(t)
	if err != nil {
		return e, err
	}
	if err := c.endSupervisor(ctx, t, r); err != nil {
		return e, err
	}
	point.Here("command.taking-over")
	os.Remove(c.Home.RunSocket(t.CurrentRun)) //nolint:errcheck // who would have removed it is gone, if there is one at all
	return c.sweep(ctx, t, r, reason, e, before.Processes...)
}

// sweep ends what is left of the run's tree, and of what was seen of it before, and
// records the end of a client that nobody saw ending.
func (c *Control) sweep(ctx context.Context, t target, r launcher.Readiness, reason string, e Ended, before ...clients.Process) (Ended, error) {
	tree, err := c.tree(t)
	if err != nil {
		return e, err
	}
	for _, p := range before {
		tree.Kin = append(tree.Kin, p.Identity)
	}
	ended, err := clients.EndTree(ctx, tree, clients.Grace{})
	if err != nil {
		return e, session.Errorf(session.Unknown, "cannot end session %s: %w", t.ID, err)
	}
	e.Ended += ended.Count
	e.Already = e.Ended == 0 && r.Life.Status != clients.Live // which died with its supervisor, if it is gone
	for _, p := range ended.Left {
		e.Left = append(e.Left, p.PID)
	}
	for _, p := range ended.Spared {
		e.Spared = append(e.Spared, fmt.Sprintf("%s (%d)", p.Name, p.PID))
	}
	for _, p := range ended.Unverified {
		e.Unverified = append(e.Unverified, p.PID)
	}
	if len(e.Left) > 0 {
		return e, c.judge(t, manifest.Done{Left: e.Left})
	}
	return e, c.recordLost(t, r, reason, e)
}

// foundEnded is the reason of an end that nobody saw.
func foundEnded(r launcher.Readiness) string { return "found ended (" + r.Life.Reason + ")" }

// recordLost writes the end of a client whose supervisor did not, with what it left.
func (c *Control) recordLost(t target, r launcher.Readiness, reason string, e Ended) error {
	id := r.Client.Receipt.Process
	if id.IsZero() || r.Client.End != nil {
		return nil
	}
	left, err := c.scan(t)
	if err != nil {
		return err
	}
	end := clients.End{Process: id, Reason: "its supervisor was gone; " + reason, Ended: e.Ended, EndedAt: time.Now()}
	end.Survived(left.Processes)
	cause := clients.Lost
	if r.Life.Status == clients.Live {
		cause, end.AskedBy = clients.Asked, c.by()
	}
	end.Outcome = clients.OutcomeOf(nil, 0, cause)
	if err := clients.WriteEnd(string(t.dir), end); err != nil && !errors.Is(err, os.ErrExist) {
		return session.Errorf(session.Failed, "the client of session %s has ended, and that could not be written down: %w", t.ID, err).
			WithHint("make room and try again")
	}
	return nil
}

// endSupervisor makes sure that no supervisor of the session lives, by its process
// and by its lock.
func (c *Control) endSupervisor(ctx context.Context, t target, r launcher.Readiness) error {
	alive, err := c.supervised(t)
	if err != nil || !alive {
		return err
	}
	var h *clients.Handle
	if !r.Super.Process.IsZero() {
		h, err = clients.Open(r.Super.Process)
		if err != nil && !errors.Is(err, clients.ErrNoProcess) {
			return session.Errorf(session.Unknown, "cannot prove the supervisor of session %s gone: %w", t.ID, err)
		}
	}
	if h != nil {
		defer h.Close()
		gone := func(d time.Duration) bool {
			ctx, cancel := context.WithTimeout(ctx, d)
			defer cancel()
			return h.Wait(ctx) == nil
		}
		if r.Life.Status == clients.Live || !gone(leaveWait) { // one whose client has ended is leaving by itself
			h.Signal(unix.SIGKILL) //nolint:errcheck // whether it is gone is what counts
			if !gone(leaveWait) {
				return session.Errorf(session.Unknown, "cannot end the supervisor of session %s (pid %d); nothing else was touched", t.ID, r.Super.Process.PID)
			}
		}
	}
	l, err := lock.Acquire(ctx, c.Home.Locks(), t.ID, lock.Life, c.Caller.Command, leaveWait)
	if held, ok := errors.AsType[*lock.HeldError](err); ok { // by one that has not got as far as to say who it is
		return session.Errorf(session.Unknown, "cannot prove the supervisor of session %s gone: %w; nothing else was touched", t.ID, err).
			WithHint("kill -KILL %d; berth stop %s", held.Holder.PID, t.ID)
	}
	if err != nil {
		return session.Errorf(session.Unknown, "cannot prove the supervisor of session %s gone: %w", t.ID, err)
	}
	return l.Release()
}

// verified waits for the supervisor to leave and looks once more, with our own eyes,
// that nothing of the run is left.
func (c *Control) verified(t target, r launcher.Readiness, reason string, e Ended) (Ended, error) {
	if s, err := t.dir.Supervisor(); err == nil { // it may have been unreadable before
		r.Super = s
	}
	h, err := clients.Open(r.Super.Process)
	gone := errors.Is(err, clients.ErrNoProcess)
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), leaveWait)
		gone = h.Wait(ctx) == nil // one that lingers has no client any more
		cancel()
		h.Close()
	}
	if gone { // it may have been killed before it removed its socket
		os.Remove(c.Home.RunSocket(t.CurrentRun)) //nolint:errcheck // there is most often none
	}
	left, err := c.scan(t)
	if err != nil {
		return e, err
	}
	for _, p := range left.Processes {
		if !slices.Contains(e.Left, p.PID) {
			e.Left = append(e.Left, p.PID)
		}
	}
	if len(e.Left) > 0 {
		return e, c.judge(t, manifest.Done{Left: e.Left})
	}
	if now, err := launcher.Look(t.dir, t.agent); now.Client.End != nil {
		return e, nil
	} else if err != nil {
		return e, err
	}
	// Its supervisor could not write the end down: a full disk, perhaps.
	return e, c.recordLost(t, r, reason, e)
}
