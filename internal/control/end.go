package control

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"berth/clients"
	"berth/internal/point"
	"berth/internal/protocol"
	"berth/internal/session"
	"berth/launcher"
	"berth/lock"
	"berth/manifest"

	"golang.org/x/sys/unix"
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
		return c.endLost(t, none)
	}
	r, err := launcher.Look(t.dir, t.agent)
	if err != nil {
		return none, err
	}
	if r.Life.Status == clients.Unknown {
		return none, session.Errorf(session.Unknown, "cannot tell whether the client of session %s lives: %s; nothing was touched", t.ID, r.Life.Reason).
			WithHint("berth show %s", t.ID)
	}
	want := manifest.WantStopped
	if kind == manifest.RequestRestart {
		want = manifest.WantRun
	}
	if _, err := t.dir.SetWanted(want, c.by()); err != nil {
		return none, err
	}
	supervised, err := c.supervised(t)
	if err != nil {
		return none, err
	}
	inside := c.inside(t)
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
		case !errors.Is(err, errLeft):
			return none, err
		}
	}
	if inside && r.Life.Status == clients.Live {
		return none, session.Errorf(session.Unknown, "session %s has no supervisor that answers, and this command runs inside it", t.ID).
			WithHint("run this in another terminal: berth stop %s", t.ID)
	}
	return c.takeOver(ctx, t, r, reason, none)
}

func (e Ended) with(d manifest.Done) Ended {
	e.Ended += d.Ended
	e.Left = append(e.Left, d.Left...)
	e.Spared = append(e.Spared, d.Spared...)
	e.Unverified = append(e.Unverified, d.Unverified...)
	return e
}

// endLost is for a session whose run directory is gone. What can still be found is
// found by the marks of the processes themselves.
func (c *Control) endLost(t target, e Ended) (Ended, error) {
	if supervised, err := c.supervised(t); err != nil || !supervised {
		e.Already = true
		return e, err
	}
	_, holder, err := lock.Held(c.Home.Locks(), t.ID, lock.Life)
	if err != nil {
		return e, session.Errorf(session.Unknown, "%w", err)
	}
	return e, session.Errorf(session.Unknown, "the run directory of session %s is gone (%s) while %s lives: nobody can prove what belongs to it", t.ID, t.dir, holder).
		WithHint("kill -TERM %d   # its supervisor, which ends the agent", holder.PID)
}

// Why a supervisor did not carry out a request; what is left to do is ours then.
var (
	errSilent = errors.New("the supervisor neither answers nor works")
	errLeft   = errors.New("the supervisor left before it saw the request")
)

// ask requests the end from the supervisor and waits until it is carried out.
func (c *Control) ask(ctx context.Context, t target, r launcher.Readiness, kind, reason string, inside bool, release func()) (manifest.Done, error) {
	req, err := t.dir.AddRequest(manifest.Request{
		Kind: kind, Client: r.Client.Receipt.Process, Reason: reason, By: c.by(), Spare: c.Agents.Spare,
		Deadline: manifest.Monotonic() + int64(endWait),
	})
	if err != nil {
		return manifest.Done{}, err
	}
	point.Here("command.requested")
	w := manifest.Watch(string(t.dir), t.dir.Path("requests"))
	defer w.Close()
	if inside {
		release()
	}
	c.ring(t, r)
	if inside {
		return manifest.Done{}, nil
	}
	super, err := clients.Open(r.Super.Process)
	if err != nil && !errors.Is(err, clients.ErrNoProcess) {
		return manifest.Done{}, err
	}
	var left <-chan struct{}
	if super != nil {
		defer super.Close()
		left = super.Done()
	}
	accept, carry := time.After(acceptWait), time.After(endWait)
	accepted := false
	for {
		done, ok, err := t.dir.Answered(req.Seq)
		if err != nil {
			return done, session.Errorf(session.Unknown, "%w", err)
		}
		if ok {
			return done, c.judge(t, done)
		}
		if s, err := t.dir.Supervisor(); err == nil && s.Request >= req.Seq {
			accepted = true
		}
		if super == nil || super.Exited() {
			return manifest.Done{}, errLeft
		}
		select {
		case <-w.C:
		case <-left:
		case <-accept:
			if !accepted {
				return manifest.Done{}, errSilent
			}
		case <-carry:
			return manifest.Done{}, errSilent
		case <-ctx.Done():
			return manifest.Done{}, context.Cause(ctx)
		}
	}
}

// judge is the error of an answer that is not a success.
func (c *Control) judge(t target, d manifest.Done) error {
	switch {
	case len(d.Left) > 0:
		return session.Errorf(session.Failed, "cannot end all of session %s: still there are pids %s%s", t.ID, pids(d.Left), because(d.Message)).
			WithHint("berth stop %s   # tries again", t.ID)
	case !d.OK:
		return session.Errorf(session.Stale, "the supervisor of session %s refused: %s", t.ID, d.Message).
			WithHint("berth show %s", t.ID)
	}
	return nil
}

func because(msg string) string {
	if msg == "" {
		return ""
	}
	return " (" + msg + ")"
}

func pids(ps []int) string {
	var b strings.Builder
	for i, p := range ps {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, p)
	}
	return b.String()
}

// ring is the doorbell: the supervisor looks at its requests at once. It saw the
// file itself, or will; so a bell that cannot be rung is no error.
func (c *Control) ring(t target, r launcher.Readiness) {
	if point.Switch("no-doorbell") {
		return
	}
	launcher.Ring(c.Home.RunSocket(t.CurrentRun), protocol.Greeting{As: protocol.AsBell, Run: t.CurrentRun, Supervisor: r.Super.Process}, dialWait) //nolint:errcheck // see above
}

// takeOver ends the processes of a session whose supervisor is dead or silent. The
// supervisor is ended first, so that it cannot wake and act; if it cannot be proved
// gone, nothing else is touched.
func (c *Control) takeOver(ctx context.Context, t target, r launcher.Readiness, reason string, e Ended) (Ended, error) {
	if err := c.endSupervisor(ctx, t, r); err != nil {
		return e, err
	}
	point.Here("command.taking-over")
	os.Remove(c.Home.RunSocket(t.CurrentRun)) //nolint:errcheck // who would have removed it is gone, if there is one at all
	return c.sweep(ctx, t, r, reason, e)
}

// sweep ends what is left of the run's tree and records the end of a client that
// nobody saw ending.
func (c *Control) sweep(ctx context.Context, t target, r launcher.Readiness, reason string, e Ended) (Ended, error) {
	tree, err := c.tree(t)
	if err != nil {
		return e, err
	}
	ended, err := clients.EndTree(ctx, tree, clients.Grace{})
	if err != nil {
		return e, session.Errorf(session.Unknown, "cannot end session %s: %w", t.ID, err)
	}
	e.Ended += ended.Count
	e.Already = e.Ended == 0
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

// recordLost writes the end of a client whose supervisor did not.
func (c *Control) recordLost(t target, r launcher.Readiness, reason string, e Ended) error {
	id := r.Client.Receipt.Process
	if id.IsZero() || r.Client.End != nil {
		return nil
	}
	end := clients.End{Process: id, Reason: "its supervisor was gone; " + reason, Survivors: []int{}, Ended: e.Ended, EndedAt: time.Now()}
	cause := clients.Lost
	if r.Life.Status == clients.Live {
		cause, end.AskedBy = clients.Asked, c.by()
	}
	end.Outcome = clients.OutcomeOf(nil, 0, cause)
	if err := clients.WriteEnd(string(t.dir), end); err != nil && !errors.Is(err, os.ErrExist) {
		return err
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
	h, err := clients.Open(r.Super.Process)
	if err != nil && !errors.Is(err, clients.ErrNoProcess) {
		return session.Errorf(session.Unknown, "cannot prove the supervisor of session %s gone: %w", t.ID, err)
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
	if err != nil {
		return session.Errorf(session.Unknown, "cannot prove the supervisor of session %s gone: %w", t.ID, err)
	}
	return l.Release()
}

// verified waits for the supervisor to leave and looks once more, with our own eyes,
// that nothing of the run is left.
func (c *Control) verified(t target, r launcher.Readiness, reason string, e Ended) (Ended, error) {
	if h, err := clients.Open(r.Super.Process); err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), leaveWait)
		h.Wait(ctx) //nolint:errcheck // a supervisor that lingers has no client any more
		cancel()
		h.Close()
	}
	tree, err := c.tree(t)
	if err != nil {
		return e, err
	}
	left, err := clients.Scan(tree)
	if err != nil {
		return e, session.Errorf(session.Unknown, "cannot look for processes of session %s: %w", t.ID, err)
	}
	for _, p := range left.Processes {
		if !slices.Contains(e.Left, p.PID) {
			e.Left = append(e.Left, p.PID)
		}
	}
	if len(e.Left) > 0 {
		return e, c.judge(t, manifest.Done{Left: e.Left})
	}
	if now, err := launcher.Look(t.dir, t.agent); err != nil || now.Client.End != nil {
		return e, err
	}
	// Its supervisor could not write the end down: a full disk, perhaps.
	return e, c.recordLost(t, r, reason, e)
}

// everSupervised reports whether any supervisor ever took the session: lock files are
// never removed.
func (c *Control) everSupervised(t target) bool {
	return lock.Existed(c.Home.Locks(), t.ID, lock.Life)
}
