package control

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"berth/clients"
	"berth/internal/home"
	"berth/internal/protocol"
	"berth/internal/session"
	"berth/launcher"
	"berth/manifest"
)

// LookAtPanes has the hosts of the home's tmux panes count who watches them. tmux
// calls it when somebody attaches, detaches or looks elsewhere. It opens no registry.
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
	sockets, err := os.ReadDir(h.Sockets)
	if err != nil {
		return err
	}
	each(len(sockets), func(i int) {
		if run := sockets[i].Name(); session.IsID(run) {
			g := protocol.Greeting{As: protocol.AsLook, Run: run}
			launcher.Ring(filepath.Join(h.Sockets, run), g, dialWait) //nolint:errcheck // one that is gone has nobody watching
		}
	})
	return nil
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
