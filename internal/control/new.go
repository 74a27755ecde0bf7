package control

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"berth/clients"
	"berth/internal/atomicfile"
	"berth/internal/point"
	"berth/internal/protocol"
	"berth/internal/provider"
	"berth/internal/registry"
	"berth/internal/session"
	"berth/launcher"
	"berth/manifest"
	"berth/tmux"
)

// NewOptions say what session to make.
type NewOptions struct {
	Provider string
	Title    string // "": made from the opening request
	Cwd      string // "": the caller's
	Model    string
	Request  []byte // the opening request; empty: none
	Restart  string // the restart policy; "": manifest.RestartNever

	ReadyTimeout time.Duration
	Kill         bool // end the client when it is not resumable in time
	Size         protocol.Size
	NoTmux       bool // hosted in a terminal: tmux is welcome, not needed
}

// Create makes a session and starts its client; its receipt is on disk when this
// returns. Nothing is recorded when a check fails.
func (c *Control) Create(ctx context.Context, o NewOptions) (string, error) {
	agent, err := c.Agents.Get(o.Provider)
	if err != nil {
		return "", err
	}
	if o.Restart != "" && o.Restart != manifest.RestartNever && !agent.CanResume() {
		return "", session.Errorf(session.Usage, "provider %s cannot resume a conversation, which --restart %s would have to", agent.Name, o.Restart).
			WithHint("leave it out: berth new %s", agent.Name)
	}
	cwd, err := directory(o.Cwd)
	if err != nil {
		return "", err
	}
	if !o.NoTmux {
		if _, err := exec.LookPath("tmux"); err != nil {
			return "", session.Errorf(session.Failed, "cannot start a session: tmux is not installed").
				WithHint("apt-get install tmux   # or, without it: berth new --foreground %s", o.Provider)
		}
	}
	t := target{agent: agent, Session: registry.Session{
		ID: session.NewID(), Kind: session.Conversation, Title: session.Title(o.Title), TitleSource: session.TitleHuman,
		Provider: o.Provider, Model: o.Model, Cwd: cwd, Restart: cmp.Or(o.Restart, manifest.RestartNever), CreatedAt: time.Now().UTC(), CurrentRun: session.NewID(),
	}}
	if t.Title == "" {
		t.TitleSource = session.TitleGenerated
		first, _, _ := bytes.Cut(bytes.TrimSpace(o.Request), []byte("\n"))
		if t.Title = session.Title(string(first)); t.Title == "" {
			t.Title = session.Title(o.Provider + " in " + filepath.Base(cwd))
		}
	}
	t.dir = manifest.Dir(c.Home.Run(t.CurrentRun))
	// Everything is checked before anything is recorded; launch checks it again, as
	// it does for every start.
	check := launcher.Spec{Home: *c.Home, Run: t.CurrentRun, Session: t.ID, Provider: agent, Model: o.Model,
		NativeID: anyID, Prompt: o.Request, Client: launcher.Command{Cwd: cwd}}
	if err := c.fill(&check); err != nil {
		return "", err
	}
	l, err := c.lockLaunch(ctx, t.ID)
	if err != nil {
		return "", err
	}
	defer l.Release() //nolint:errcheck // closing a lock file cannot lose anything
	t.Session, err = c.DB.CreateSession(ctx, t.Session, registry.Run{ID: t.CurrentRun, CreatedAt: t.CreatedAt, Reason: "new"}, o.Request)
	if err != nil {
		return "", err
	}
	point.Here("command.row")
	if _, err := c.launch(ctx, t, start{size: o.Size}); err != nil {
		return t.ID, err
	}
	return t.ID, nil
}

// directory is the working directory a person named, absolute and with links
// resolved, so that it means the same from everywhere.
func directory(cwd string) (string, error) {
	if cwd == "" {
		cwd = "."
	}
	abs, err := filepath.Abs(cwd)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	switch {
	case errors.Is(err, os.ErrNotExist) && cwd == ".":
		return "", session.Errorf(session.Failed, "cannot start here: this directory has been removed").WithHint("cd to one that is there, or name it: --cwd DIR")
	case errors.Is(err, os.ErrNotExist):
		return "", session.Errorf(session.Failed, "cannot start in %s: there is no such directory", cwd).WithHint("mkdir -p %q", cwd)
	case err != nil:
		return "", session.Errorf(session.Failed, "cannot start in %s: %w", cwd, err)
	}
	return abs, nil
}

// Screen makes sure that a live session has its tmux session. What goes wrong is
// told and no failure: the agent runs.
func (c *Control) Screen(ctx context.Context, ref string) {
	t, err := c.find(ctx, ref)
	if err != nil {
		return
	}
	s, err := t.dir.Supervisor()
	if err != nil || clients.Check(s.Process).Status != clients.Live {
		return
	}
	if err := c.ensurePane(ctx, t); err != nil {
		c.Notice("session %s runs, but has no tmux session: %v", t.ID, err)
	}
}

func (c *Control) ensurePane(ctx context.Context, t target) error {
	_, err := launcher.EnsurePane(ctx, c.Tmux, launcher.Pane{Session: t.ID, Run: t.CurrentRun, Cwd: t.Cwd, Size: launcher.DefaultSize})
	return err
}

// AwaitReady waits until the session is resumable, for at most d, and returns what
// is known of it then. The error says why it is not: its client ended, or the time
// was up (class NotResumable; the client is left alive unless kill is set). A
// session that will not become resumable by waiting is no error.
func (c *Control) AwaitReady(ctx context.Context, ref string, d time.Duration, kill bool) (session.Record, error) {
	t, err := c.find(ctx, ref)
	if err != nil {
		return session.Record{}, err
	}
	wait, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	r, err := launcher.AwaitResumable(wait, t.dir, t.agent)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	rec := c.record(t)
	elapsed := time.Since(c.started).Milliseconds()
	rec.ElapsedMS = &elapsed
	switch {
	case err != nil:
		return rec, err
	case r.Phase == session.Ended:
		if r.Super.Phase != manifest.PhaseBackoff {
			c.removePane(ctx, t) // it would show what is told here
		}
		return rec, c.endedEarly(t, r)
	case r.Elsewhere(t.agent):
		return rec, session.Errorf(session.Refused, "the conversation of session %s is open in another %s, which berth did not start; the session waits for its end", t.ID, t.Provider).
			WithHint("end that one, then: berth restart %s", t.ID)
	case r.Settled(t.agent):
		return rec, nil
	}
	if kill {
		err := c.withLaunchLock(ctx, t.ID, func(t target, release func()) error {
			_, err := c.end(ctx, t, manifest.RequestStop, "not resumable in time", release)
			if err == nil {
				c.removePane(ctx, t)
			}
			return err
		})
		rec = c.record(t)
		rec.ElapsedMS = &elapsed
		return rec, errors.Join(session.Errorf(session.NotResumable, "session %s was not resumable in %v (%s) and was ended", t.ID, d, r.Reason), err)
	}
	if r.Phase == session.Blocked {
		c.showScreen(ctx, t)
	}
	return rec, session.Errorf(session.NotResumable, "session %s is running, not resumable yet: %s", t.ID, r.Reason).
		WithHint("berth open %s", t.ID)
}

// showScreen tells whoever asked what the agent shows now. It is kept nowhere.
func (c *Control) showScreen(ctx context.Context, t target) {
	text, err := c.Capture(ctx, t.ID, tmux.CaptureOptions{})
	if err != nil {
		return // it is shown to whoever joins
	}
	c.Notice("on its screen:")
	for line := range bytes.Lines(text) {
		if line = bytes.TrimRight(line, " \n"); len(line) > 0 {
			c.Notice("  %s", line)
		}
	}
}

// endedEarly is the error of a client that ended before it could be resumed, with
// the evidence of what was started.
func (c *Control) endedEarly(t target, r launcher.Readiness) error {
	why := "its end was not seen"
	if e := r.Client.End; e != nil {
		if why = e.Text(); e.AskedBy != "" { // nothing is wrong with it: somebody else came after us
			return session.Errorf(session.Stale, "session %s: its client was ended before it could be resumed: %s", t.ID, why).
				WithHint("berth show %s", t.ID)
		}
	}
	m, _ := t.dir.Manifest()
	digest := "unavailable"
	if f, err := provider.Fingerprint(m.Executable.Path, true); err == nil {
		digest = f.SHA256
	}
	c.Notice("executable  %s", m.Executable.Path)
	c.Notice("sha256      %s", digest)
	c.Notice("directory   %s", t.Cwd)
	c.Notice("home        %s", c.Home.Dir)
	if screen, err := atomicfile.Read(t.dir.Path("last-screen.txt")); err == nil && len(bytes.TrimSpace(screen)) > 0 {
		c.Notice("last on its screen:")
		for line := range bytes.Lines(screen) {
			c.Notice("  %s", bytes.TrimRight(line, "\n"))
		}
	}
	return session.Errorf(session.Failed, "session %s: %s ended before it could be resumed: %s", t.ID, t.Provider, why).
		WithHint("berth show %s", t.ID)
}

// Live reports whether the session of a run has a live client. One that was completed
// may: its pane shows how that ends.
func (c *Control) Live(ctx context.Context, ref string) (id string, live bool, err error) {
	t, err := c.find(ctx, ref)
	if err != nil {
		return "", false, err
	}
	r, err := launcher.Look(t.dir, t.agent)
	if err == nil && r.Life.Status == clients.Unknown {
		err = session.Errorf(session.Unknown, "cannot tell whether the client of session %s lives: %s", t.ID, r.Life.Reason)
	}
	return t.ID, r.Life.Status == clients.Live, err
}

// Status is the exit status that stands for the end of the newest client of a
// session: its own, 0 if somebody asked for its end.
func (c *Control) Status(ctx context.Context, ref string) (int, error) {
	t, err := c.find(ctx, ref)
	if err != nil {
		return 0, err
	}
	r, err := launcher.Look(t.dir, t.agent)
	if err != nil {
		return 0, err
	}
	if r.Client.End == nil {
		return 0, fmt.Errorf("session %s: the end of its client was not seen", t.ID)
	}
	return r.Client.End.Status(), nil
}

// dirExists reports whether path is a directory.
func dirExists(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}
