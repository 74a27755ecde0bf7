package control

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"berth/clients"
	"berth/internal/point"
	"berth/internal/protocol"
	"berth/internal/provider"
	"berth/internal/registry"
	"berth/internal/session"
	"berth/launcher"
	"berth/manifest"

	"golang.org/x/sys/unix"
)

// start says how a session's client is to be started.
type start struct {
	size  protocol.Size
	fresh bool // a new run and a new conversation, by a person's word
	try   bool // start although it cannot be told whether a client lives
	clear bool // forget the failures that the restart policy counts
}

// launch starts the session's client unless one lives, and returns the session with
// the run it is in now. The caller holds the launch lock. When it returns nil the
// receipt is on disk.
func (c *Control) launch(ctx context.Context, t target, how start) (target, error) {
	if t.ClosedAt != nil {
		return t, closed(t)
	}
	if err := c.settle(ctx, t); err != nil {
		return t, err
	}
	r, err := c.known(ctx, t, how.fresh)
	if err != nil {
		return t, err
	}
	switch r.Life.Status {
	case clients.Live:
		return t, nil
	case clients.Unknown:
		if how.try {
			break
		}
		return t, session.Errorf(session.Unknown, "cannot tell whether the client of session %s lives: %s", t.ID, r.Life.Reason).
			WithHint("berth open --try %s   # if you know that it does not", t.ID)
	}
	if err := c.noStrays(t); err != nil {
		return t, err
	}
	if err := c.recordLost(t, r, foundEnded(r), Ended{}); err != nil {
		return t, err
	}
	spec, t, err := c.prepare(ctx, t, r, how)
	if err != nil {
		return t, err
	}
	return t, c.run(spec)
}

// known is what is known of the run's clients, under the launch lock. A run whose
// directory was lost is known by nothing; only a person's word to begin afresh, and
// no supervisor there, goes on from that.
func (c *Control) known(ctx context.Context, t target, fresh bool) (launcher.Readiness, error) {
	err := c.published(ctx, t)
	if errors.Is(err, errRunLost) && fresh {
		busy, berr := c.supervised(t)
		if berr == nil && !busy {
			return launcher.Readiness{Life: clients.Liveness{Status: clients.Dead, Reason: "its run directory is gone"}}, nil
		}
	}
	if err != nil {
		return launcher.Readiness{}, err
	}
	return c.betweenClients(ctx, t)
}

// betweenClients looks at the run when no supervisor is at work between two clients:
// one that has just lost its client leaves, or starts the next one itself.
func (c *Control) betweenClients(ctx context.Context, t target) (launcher.Readiness, error) {
	w := manifest.Watch(string(t.dir))
	defer w.Close()
	for limit := time.Now().Add(endWait); ; {
		r, err := launcher.Look(t.dir, t.agent)
		if err != nil || r.Life.Status != clients.Dead {
			return r, err
		}
		busy, err := c.supervised(t)
		if err != nil || !busy {
			return r, err
		}
		if r.Super.Phase == manifest.PhaseBackoff { // a person is quicker than its policy
			_, err := c.ask(ctx, t, r, manifest.RequestStop, "superseded", false, nil)
			if errors.Is(err, errSilent) {
				return r, session.Errorf(session.Unknown, "session %s: %w (pid %d)", t.ID, err, r.Super.Process.PID).WithHint("berth stop %s   # ends it", t.ID)
			}
			if err != nil && !errors.Is(err, errLeft) {
				return r, err
			}
			continue
		}
		if time.Now().After(limit) {
			return r, session.Errorf(session.Unknown, "session %s has a supervisor (pid %d) without a client, and it does not leave", t.ID, r.Super.Process.PID).
				WithHint("berth stop %s", t.ID)
		}
		if err := c.pause(ctx, w, endWait); err != nil {
			return r, err
		}
	}
}

// noStrays refuses to start beside processes of the session that outlived its
// client: one of them may be the agent itself, left by a wrapper that was killed.
func (c *Control) noStrays(t target) error {
	if !c.everSupervised(t) {
		return nil // nothing was ever started, so nothing can be left
	}
	left, err := c.scan(t)
	if err != nil || len(left.Processes) == 0 {
		return err
	}
	var names []string
	for _, p := range left.Processes {
		names = append(names, fmt.Sprintf("%s (%d)", p.Name, p.PID))
	}
	return session.Errorf(session.Refused, "session %s has no client, but processes of it still run: %s", t.ID, strings.Join(names, ", ")).
		WithHint("berth restart %s   # ends them first", t.ID)
}

// prepare works out the next client of the session and checks all that can be
// checked. Nothing is started or changed, but for a new run where one is due.
func (c *Control) prepare(ctx context.Context, t target, r launcher.Readiness, how start) (launcher.Spec, target, error) {
	var none launcher.Spec
	agent, err := c.Agents.Get(t.Provider)
	if err != nil {
		return none, t, err
	}
	started := r.Phase != session.Starting
	known := r.Native.NativeID != ""
	spec := launcher.Spec{
		Home: *c.Home, Session: t.ID, Provider: agent, Model: t.Model, Spare: c.Agents.Spare, KeepPane: c.Agents.KeepPane,
		Client:   launcher.Command{Cwd: t.Cwd, Umask: c.Caller.Umask, Size: how.size},
		Restarts: manifest.Restarts{Policy: t.Session.Restart},
	}
	if !how.clear {
		spec.Restarts.Count, spec.Restarts.Failures = r.Super.Restarts.Count, r.Super.Restarts.Failures
	}
	if spec.Client.Size == (protocol.Size{}) {
		spec.Client.Size = launcher.DefaultSize
	}
	reason := ""
	switch {
	case how.fresh:
		reason = "fresh"
	case started && !agent.CanResume():
		return none, t, session.Errorf(session.Refused, "session %s cannot be resumed: provider %s has no way to", t.ID, agent.Name).
			WithHint("berth restart --fresh %s   # a new conversation", t.ID)
	case !started && known && agent.NativeID == provider.NativeChosen:
		spec.NativeID = r.Native.NativeID // chosen for a start that came to nothing
	case started:
		if spec.Continue(r.Native) != nil {
			reason = "never announced an id"
		}
	}
	if reason == "" && known {
		m, err := t.dir.Manifest()
		if err != nil {
			return none, t, err
		}
		if err := c.sameIdentity(t, agent, m); err != nil {
			return none, t, err
		}
		if err := stillThere(t, r.Native); err != nil {
			return none, t, err
		}
		c.tellMissing(t, m)
	}
	if agent.NativeID == provider.NativeChosen && spec.NativeID == "" {
		spec.NativeID = provider.NewNativeID()
	}
	if spec.Opening, err = c.DB.Request(ctx, t.ID); err != nil {
		return none, t, err
	}
	sent := false
	if !how.fresh {
		if sent, err = c.requestSent(ctx, t); err != nil {
			return none, t, err
		}
	}
	if !sent {
		spec.Prompt = spec.Opening
	} else if !spec.Resume || r.Super.Prompt == manifest.PromptSending {
		c.Notice("session %s: its opening request was being sent when its client ended; it is not sent again", t.ID)
		t.dir.AppendEvent(manifest.Event{Run: t.CurrentRun, Session: t.ID, Event: "opening request not sent again"}) //nolint:errcheck // told where it can be
	}
	next := t.CurrentRun
	if reason != "" {
		next = session.NewID()
	}
	spec.Run, spec.Attempt = next, 1
	if next == t.CurrentRun {
		spec.Attempt = max(r.Client.Receipt.Attempt, r.Super.Attempt) + 1
	}
	if err := c.fill(&spec); err != nil {
		return none, t, err
	}
	if reason != "" {
		run := registry.Run{ID: next, CreatedAt: time.Now().UTC(), Reason: reason}
		s, err := c.DB.AddRun(ctx, t.ID, t.Version, run)
		if err != nil {
			return none, t, err
		}
		t = c.target(s)
		if err := c.publish(ctx, t); err != nil {
			return none, t, err
		}
	}
	return spec, t, nil
}

// requestSent reports whether the opening request went out: in the current run, or
// in an earlier one that it took over from without a person's word.
func (c *Control) requestSent(ctx context.Context, t target) (bool, error) {
	runs, err := c.DB.Runs(ctx, t.ID)
	if err != nil {
		return false, err
	}
	for _, r := range slices.Backward(runs) {
		sent, err := manifest.Dir(c.Home.Run(r.ID)).PromptSent()
		if err != nil || sent || r.Reason == "fresh" {
			return sent, err
		}
	}
	return false, nil
}

// run starts the supervisor and waits until the client's receipt is on disk. A
// terminal that closes meanwhile cuts it only when that is done: else the wish for a
// client would be left without one.
func (c *Control) run(spec launcher.Spec) error {
	defer uncut()()
	d := spec.Dir()
	if _, err := d.SetWanted(manifest.WantRun, c.by()); err != nil {
		return err
	}
	if err := d.Prepare(spec.Attempt); err != nil {
		return err
	}
	if err := d.Advance(manifest.Prepared, manifest.Launching); err != nil {
		return err
	}
	point.Here("command.claimed")
	l, err := launcher.StartSupervisor(spec, c.Caller.Env)
	if err == nil {
		err = l.Await(manifest.LaunchWithin)
	}
	if err == nil {
		return nil
	}
	// Whatever stage it has reached, it goes no further: the late party finds
	// nothing to rename.
	for _, stage := range []manifest.Stage{manifest.Launching, manifest.Supervised} {
		if aerr := d.Advance(stage, manifest.Expired); aerr == nil {
			break
		}
	}
	return session.Errorf(session.Failed, "cannot start session %s: %w", spec.Session, err).
		WithHint("berth show %s", spec.Session)
}

// uncut holds back the SIGHUP of a closed terminal until over is called.
func uncut() (over func()) {
	if signal.Ignored(unix.SIGHUP) {
		return func() {}
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, unix.SIGHUP)
	return func() {
		signal.Stop(hangups)
		if len(hangups) > 0 {
			unix.Kill(os.Getpid(), unix.SIGHUP) //nolint:errcheck // we may signal ourselves
		}
	}
}
