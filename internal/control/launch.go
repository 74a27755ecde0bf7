package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
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
)

// start says how a session's client is to be started.
type start struct {
	size  protocol.Size
	fresh bool // a new run and a new conversation, by a person's word
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
	if err := c.published(ctx, t); err != nil {
		return t, err
	}
	r, err := c.betweenClients(ctx, t)
	if err != nil {
		return t, err
	}
	switch r.Life.Status {
	case clients.Live:
		return t, nil
	case clients.Unknown:
		return t, session.Errorf(session.Unknown, "cannot tell whether the client of session %s lives: %s", t.ID, r.Life.Reason).
			WithHint("berth show %s", t.ID)
	}
	if err := c.noStrays(t); err != nil {
		return t, err
	}
	spec, t, err := c.prepare(ctx, t, r, how)
	if err != nil {
		return t, err
	}
	return t, c.run(spec)
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
		if time.Now().After(limit) {
			return r, session.Errorf(session.Unknown, "session %s has a supervisor (pid %d) without a client, and it does not leave", t.ID, r.Super.Process.PID).
				WithHint("berth stop %s", t.ID)
		}
		if err := c.pause(ctx, w, endWait); err != nil {
			return r, err
		}
	}
}

// published makes sure that the run directory is there. A run that was recorded and
// never launched is published now; one that was launched and lost its directory has
// lost its evidence, and nothing is guessed.
func (c *Control) published(ctx context.Context, t target) error {
	_, err := os.Lstat(string(t.dir))
	if err == nil {
		_, err = t.dir.Manifest()
		return err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return session.Errorf(session.Unknown, "%w", err)
	}
	if c.everSupervised(t) {
		return session.Errorf(session.Unknown, "the run directory of session %s is gone (%s), and with it what is known of its conversation", t.ID, t.dir).
			WithHint("berth restart --fresh %s", t.ID)
	}
	return c.publish(ctx, t)
}

// noStrays refuses to start beside processes of the session that outlived its
// client: one of them may be the agent itself, left by a wrapper that was killed.
func (c *Control) noStrays(t target) error {
	spec, err := c.tree(t)
	if err != nil {
		return err
	}
	left, err := clients.Scan(spec)
	if err != nil {
		return session.Errorf(session.Unknown, "cannot look for processes of session %s: %w", t.ID, err)
	}
	if len(left.Processes) == 0 {
		return nil
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
	recorded := r.Native.Recorded || agent.History == "" && known
	spec := launcher.Spec{
		Home: *c.Home, Session: t.ID, Provider: agent, Model: t.Model, Spare: c.Agents.Spare,
		Client: launcher.Command{Cwd: t.Cwd, Umask: c.Caller.Umask, Size: how.size},
	}
	if spec.Client.Size == (protocol.Size{}) {
		spec.Client.Size = launcher.DefaultSize
	}
	sent := false
	if started {
		if sent, err = t.dir.PromptSent(); err != nil {
			return none, t, err
		}
	}
	reason := ""
	switch {
	case how.fresh:
		reason, sent = "fresh", false
	case started && !agent.CanResume():
		return none, t, session.Errorf(session.Refused, "session %s cannot be resumed: provider %s has no way to", t.ID, agent.Name).
			WithHint("berth restart --fresh %s   # a new conversation", t.ID)
	case known && recorded:
		spec.Resume, spec.NativeID = true, r.Native.NativeID
	case started && known && agent.NativeID == provider.NativeChosen:
		spec.NativeID = r.Native.NativeID // nothing was recorded under it, so it is still free
	case started:
		reason = "never announced an id"
	}
	if reason == "" && known {
		m, err := t.dir.Manifest()
		if err != nil {
			return none, t, err
		}
		if err := c.sameIdentity(t, agent, m); err != nil {
			return none, t, err
		}
	}
	if agent.NativeID == provider.NativeChosen && spec.NativeID == "" {
		spec.NativeID = provider.NewNativeID()
	}
	if spec.Opening, err = c.DB.Request(ctx, t.ID); err != nil {
		return none, t, err
	}
	if !spec.Resume && !sent {
		spec.Prompt = spec.Opening
	} else if !spec.Resume {
		c.Notice("session %s: its opening request was being sent when its client ended; it is not sent again", t.ID)
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

// fill completes the client's command and checks it.
func (c *Control) fill(spec *launcher.Spec) error {
	st, err := os.Stat(spec.Client.Cwd)
	if err != nil || !st.IsDir() {
		return session.Errorf(session.Failed, "cannot start in %s: the directory does not exist", spec.Client.Cwd).
			WithHint("mkdir -p %s", spec.Client.Cwd)
	}
	bin, err := launcher.Bin()
	if err != nil {
		return err
	}
	prompt := spec.Prompt
	spec.Client.Env = launcher.ClientEnv(c.Caller.Env, *spec, bin)
	if err := spec.Fill(); err != nil {
		return err
	}
	if len(prompt) == 0 || spec.Provider.Prompt == provider.PromptArgv {
		spec.Prompt = nil // there is none to type
	}
	return nil
}

// anyID fills templates that are only checked.
const anyID = "00000000-0000-4000-8000-000000000000"

// executable checks that the agent's program is there.
func (c *Control) executable(t target, agent provider.Provider, nativeID string) error {
	spec := launcher.Spec{Home: *c.Home, Run: t.CurrentRun, Session: t.ID, Provider: agent, Model: t.Model,
		NativeID: nativeID, Prompt: []byte("-"), Client: launcher.Command{Cwd: t.Cwd}}
	if spec.NativeID == "" {
		spec.NativeID = anyID
	}
	return c.fill(&spec)
}

// sameIdentity refuses to resume a conversation as somebody else: the variables that
// decide whose it is must say what they said.
func (c *Control) sameIdentity(t target, agent provider.Provider, m manifest.Manifest) error {
	for _, name := range agent.Identity {
		was, had := m.Env[name]
		is := launcher.Getenv(c.Caller.Env, name)
		if is != was && (is != "" || had) {
			return session.Errorf(session.Refused, "session %s was started with %s=%q, and now it is %q: that is another account's history", t.ID, name, was, is).
				WithHint("env %s=%s berth open %s", name, was, t.ID)
		}
	}
	return nil
}

// publish writes the run directory of t's current run.
func (c *Control) publish(ctx context.Context, t target) error {
	spec := launcher.Spec{Home: *c.Home, Run: t.CurrentRun, Session: t.ID, Provider: t.agent, Model: t.Model,
		Client: launcher.Command{Cwd: t.Cwd}, NativeID: anyID, Prompt: []byte("-")}
	bin, err := launcher.Bin()
	if err != nil {
		return err
	}
	spec.Client.Env = launcher.ClientEnv(c.Caller.Env, spec, bin)
	if err := spec.Fill(); err != nil {
		return err
	}
	here := clients.Machine()
	m := manifest.Manifest{
		Run: t.CurrentRun, Session: t.ID, Kind: t.Kind, Provider: t.Provider, Model: t.Model, Cwd: t.Cwd,
		CallerRun: launcher.Getenv(c.Caller.Env, clients.RunMark), CreatedAt: time.Now().UTC().Format(time.RFC3339Nano),
		Host: here.Host, Boot: here.Boot, PIDNS: here.PIDNS,
		Versions: manifest.Versions{Berth: c.Caller.Version, Protocol: protocol.Version},
		Env:      map[string]string{},
	}
	m.Worktree, m.Repo = gitPlace(t.Cwd)
	if f, err := provider.Fingerprint(spec.Client.Path, false); err == nil {
		m.Executable = manifest.Executable{Path: f.Path, Size: f.Size, MTime: f.ModTime.UTC().Format(time.RFC3339Nano)}
	} else {
		m.Executable = manifest.Executable{Path: spec.Client.Path}
	}
	names := map[string]bool{}
	for _, kv := range spec.Client.Env {
		k, v, _ := strings.Cut(kv, "=")
		names[k] = true
		if k == "PATH" || slices.Contains(t.agent.Identity, k) {
			m.Env[k] = v
		}
	}
	m.EnvNames = slices.Sorted(maps.Keys(names))
	if err := manifest.Publish(t.dir, m); err != nil {
		return err
	}
	point.Here("command.published")
	return nil
}

// run starts the supervisor and waits until the client's receipt is on disk.
func (c *Control) run(spec launcher.Spec) error {
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
