package control

import (
	"context"
	"errors"
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
	"berth/internal/session"
	"berth/launcher"
	"berth/manifest"
)

// errRunLost says that a run was launched and its directory is no more.
var errRunLost = errors.New("somebody removed the run directory")

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
		return session.Errorf(session.Unknown, "%w of session %s (%s), and with it what is known of its conversation", errRunLost, t.ID, t.dir).
			WithHint("berth restart --fresh %s", t.ID)
	}
	return c.publish(ctx, t)
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
