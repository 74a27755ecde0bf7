package control

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"berth/clients"
	"berth/internal/home"
	"berth/internal/protocol"
	"berth/internal/session"
	"berth/launcher"
	"berth/manifest"
)

// LookAtPanes has the hosts of the home's tmux panes count who watches them, where
// that is not what their supervisors have on record. tmux calls it when somebody
// attaches, detaches or looks elsewhere. It opens no registry.
func LookAtPanes(ctx context.Context, c Caller) error {
	getenv := func(name string) string { return launcher.Getenv(c.Env, name) }
	dir, err := home.Path(getenv)
	if err != nil {
		return err
	}
	h, err := home.Open(dir)
	if err != nil {
		return err
	}
	watchers, err := launcher.Tmux(*h, c.Env).WatchersByPane(ctx)
	if err != nil {
		return err
	}
	sockets, err := os.ReadDir(h.Sockets)
	if err != nil {
		return err
	}
	each(len(sockets), func(i int) {
		run := sockets[i].Name()
		if !session.IsID(run) || !miscounted(manifest.Dir(h.Run(run)), watchers) {
			return
		}
		g := protocol.Greeting{As: protocol.AsLook, Run: run}
		launcher.Ring(filepath.Join(h.Sockets, run), g, dialWait) //nolint:errcheck // one that is gone has nobody watching
	})
	return nil
}

// miscounted reports whether the run's record of who watches its pane is not what
// tmux says, or cannot be read.
func miscounted(d manifest.Dir, watchers map[string]int) bool {
	s, err := d.Supervisor()
	if err != nil {
		return true
	}
	return slices.ContainsFunc(s.Hosts, func(h manifest.Host) bool {
		return h.Kind == manifest.HostTmux && h.Watchers != watchers[h.Pane]
	})
}

// TellReady waits until the session is resumable, for at most d, and writes the
// outcome into its run's events: whoever hosts it cannot print it over the agent.
func (c *Control) TellReady(ctx context.Context, ref string, d time.Duration) {
	t, err := c.find(ctx, ref)
	if err != nil {
		return
	}
	wait, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	r, err := launcher.AwaitResumable(wait, t.dir, t.agent)
	if err != nil || ctx.Err() != nil || r.Life.Status != clients.Live {
		return
	}
	name := "resumable"
	if !r.Resumable() {
		name = "not resumable in time"
	}
	t.dir.AppendEvent(manifest.Event{Run: t.CurrentRun, Session: t.ID, Event: name, Detail: map[string]any{"phase": r.Phase}}) //nolint:errcheck // told where it can be
}
