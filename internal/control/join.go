package control

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"berth/clients"
	"berth/internal/host"
	"berth/internal/protocol"
	"berth/internal/session"
	"berth/launcher"
	"berth/lock"
	"berth/manifest"
	"berth/tmux"

	"golang.org/x/sys/unix"
)

// nextWait is how long a host waits for the next client of a session that is being
// restarted: the restart's own bounds.
const nextWait = 30 * time.Second

// drawWait is how long a capture waits for the pane to show what the client wrote.
const drawWait = 2 * time.Second

// Opening says how a session is to be opened in a terminal. The zero value joins it, or
// starts it where it does not run, and takes nothing from anybody.
type Opening struct {
	Size    protocol.Size
	Fresh   bool // a new conversation, if no client lives
	Move    bool // take the keyboard, whoever has it; the client runs on
	Replace bool // end the client and resume its conversation in a new one here
	Try     bool // start even if it cannot be told whether a client lives; never beside a live one
}

// OpenHere makes sure that the session's client lives, as o says.
func (c *Control) OpenHere(ctx context.Context, ref string, o Opening) (id string, err error) {
	t, err := c.find(ctx, ref)
	if err != nil {
		return "", err
	}
	if t.ClosedAt != nil {
		return t.ID, closed(t)
	}
	if c.inside(t) {
		return t.ID, session.Errorf(session.Refused, "session %s cannot be opened inside itself", t.ID).
			WithHint("run this in another terminal: berth open %s", t.ID)
	}
	if o.Replace {
		return t.ID, c.replace(ctx, t.ID, o)
	}
	if r, err := launcher.Look(t.dir, t.agent); err == nil && r.Life.Status == clients.Live {
		if clients.Check(r.Super.Process).Status == clients.Dead {
			return t.ID, orphaned(t, r)
		}
		if s, _, err := t.dir.Marker(); err == nil && s == manifest.NoMarker {
			if o.Fresh {
				return t.ID, session.Errorf(session.Refused, "session %s is running (pid %d)", t.ID, r.Client.Receipt.Process.PID).
					WithHint("berth restart --fresh %s", t.ID)
			}
			return t.ID, nil // joining needs no lock
		}
	}
	return t.ID, c.withLaunchLock(ctx, t.ID, func(t target, _ func()) error {
		_, err := c.launch(ctx, t, start{size: o.Size, fresh: o.Fresh, try: o.Try})
		return err
	})
}

// replace ends the client, wherever it is, and resumes its conversation in a new one.
func (c *Control) replace(ctx context.Context, id string, o Opening) error {
	return c.withLaunchLock(ctx, id, func(t target, release func()) error {
		if err := c.mayRestart(ctx, t, o.Fresh); err != nil {
			return err
		}
		if _, err := c.end(ctx, t, manifest.RequestStop, manifest.ReasonMoved, release); err != nil {
			return err
		}
		_, err := c.launch(ctx, t, start{size: o.Size, fresh: o.Fresh, clear: true})
		return err
	})
}

func orphaned(t target, r launcher.Readiness) error {
	return session.Errorf(session.Refused, "the agent of session %s (pid %d) runs, but its terminal is gone: its supervisor has died, so it cannot be joined or moved", t.ID, r.Client.Receipt.Process.PID).
		WithHint("berth open --replace %s   # ends it, with what it is doing, and resumes the conversation here", t.ID)
}

// hostOptions says what the terminal is.
func (c *Control) hostOptions(in, out *os.File, pane bool) host.Options {
	o := host.Options{In: in, Out: out, Kind: manifest.HostTerminal}
	o.Info = manifest.Host{Process: clients.Self(), TTY: ttyName(in)}
	if id := launcher.Getenv(c.Caller.Env, "TMUX_PANE"); pane && id != "" && c.Tmux.InsideThisServer(launcher.Getenv(c.Caller.Env, "TMUX")) {
		o.Kind, o.Tmux, o.Info.Pane = manifest.HostTmux, c.Tmux, id
		if rec, err := c.Tmux.ReadRecord(); err == nil {
			o.Info.Server = rec.Server
		}
	} else if id := launcher.Getenv(c.Caller.Env, "BERTH_TERMINAL_ID"); id != "" && launcher.Getenv(c.Caller.Env, "BERTH_TERMINAL_TTY") == o.Info.TTY {
		o.Info.TerminalID = id
	}
	return o
}

// Host joins a terminal to the session until the person leaves, the terminal goes,
// or the client ends and no next one follows. With pane it is what the session's own
// tmux pane runs, if this is a pane of berth's server; any other terminal in there,
// such as a pane that a person split off, is a terminal.
func (c *Control) Host(ctx context.Context, ref string, in, out *os.File, pane, move bool) (host.Result, error) {
	t, err := c.find(ctx, ref)
	if err != nil {
		return host.Result{}, err
	}
	o := c.hostOptions(in, out, pane)
	told := false
	for {
		r, err := launcher.Look(t.dir, t.agent)
		if err != nil {
			return host.Result{}, err
		}
		o.Socket = c.Home.RunSocket(t.CurrentRun)
		o.Hello = protocol.Greeting{Version: c.Caller.Version, Run: t.CurrentRun, Boot: clients.Machine().Boot, Supervisor: r.Super.Process, NativeID: r.Native.NativeID}
		if move && !told {
			o.Hello.Want = protocol.WantMove
		}
		c.knock(ctx, t)
		res, err := host.Join(ctx, o, func() { told = true })
		if told && errors.Is(err, host.ErrLost) {
			if end := c.endOf(ctx, t, r.Client.Receipt.Process); end != nil { // its last word did not get through, but it is on record
				res, err = host.Result{Why: host.Over, Ending: protocol.EndingOf(*end, false)}, nil
			}
		}
		is := func(class session.Class) bool { return err != nil && session.ClassOf(err) == class }
		switch {
		case err == nil && res.Why == host.Over && followed(o.Kind, res.Ending.Reason):
		case err == nil:
			return res, nil
		case is(session.Stale): // being ended or restarted, or just ended
			c.Notice("%v; waiting for that", err)
		case is(session.Unknown) && (told || c.over(t)): // its supervisor has gone
		default:
			return res, err
		}
		again, err2 := c.awaitNext(ctx, t, r.Super)
		if err == nil && errors.Is(err2, ErrOver) { // the restart that it followed came to nothing
			err2 = noNext(t)
		}
		if err2 != nil {
			return res, errors.Join(err, err2)
		}
		t = again
	}
}

// endOf is the recorded end of a client; nil if there is none. Whoever is changing the
// session, and may have ended it, is waited for.
func (c *Control) endOf(ctx context.Context, t target, client clients.Identity) *clients.End {
	ctx, cancel := context.WithTimeout(ctx, nextWait)
	defer cancel()
	w := manifest.Watch(string(t.dir))
	defer w.Close()
	for {
		if changing, _, err := lock.Held(c.Home.Locks(), t.ID, lock.Launch); err != nil || !changing || c.pause(ctx, w, nextWait) != nil {
			break
		}
	}
	all, err := clients.Read(string(t.dir))
	i := slices.IndexFunc(all, func(c clients.Client) bool { return c.Receipt.Process == client })
	if err != nil || i < 0 {
		return nil
	}
	return all[i].End
}

// ErrOver is wrapped by the error of Host when the client ended before the terminal
// had joined it: whoever opens the session again starts the next.
var ErrOver = errors.New("the agent has just ended")

// over reports whether the session's client has ended.
func (c *Control) over(t target) bool {
	r, err := launcher.Look(t.dir, t.agent)
	return err == nil && r.Life.Status == clients.Dead
}

func noNext(t target) error {
	return session.Errorf(session.Failed, "the next client of session %s did not start", t.ID).WithHint("berth open %s", t.ID)
}

// overForGood reports whether the session's client has ended and neither its
// supervisor nor a command is about to start the next.
func (c *Control) overForGood(t target) (bool, error) {
	launching, _, err := lock.Held(c.Home.Locks(), t.ID, lock.Launch) // first: who gives it up has left its traces
	if err != nil || launching {
		return false, err
	}
	supervised, err := c.supervised(t)
	if err != nil || supervised {
		return false, err
	}
	marker, _, err := t.dir.Marker()
	if err != nil || marker != manifest.NoMarker {
		return false, err
	}
	return c.over(t), nil
}

// followed reports whether a host of this kind stays for the next client, after one
// that was ended for this reason.
func followed(kind, reason string) bool {
	return reason == manifest.ReasonRestarted || reason == manifest.ReasonMoved && kind == manifest.HostTmux
}

// awaitNext waits for another client of the session than the one before. ErrOver:
// nobody is starting one any more.
func (c *Control) awaitNext(ctx context.Context, t target, before manifest.Supervisor) (target, error) {
	ctx, cancel := context.WithTimeout(ctx, nextWait)
	defer cancel()
	w := manifest.Watch(string(t.dir))
	defer w.Close()
	for {
		t, err := c.load(ctx, t.ID)
		if err != nil {
			return t, err
		}
		if over, err := c.overForGood(t); over || err != nil {
			return t, cmp.Or(err, ErrOver)
		}
		s, err := t.dir.Supervisor()
		if err == nil && (s.Process != before.Process || s.Attempt != before.Attempt) && s.Phase == manifest.PhaseRunning && clients.Check(s.Process).Status == clients.Live {
			return t, nil
		}
		if err := c.pause(ctx, w, nextWait); err != nil {
			return t, noNext(t)
		}
	}
}

// ttyName is the path of the terminal f is, as the person knows it.
func ttyName(f *os.File) string {
	if path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(f.Fd()))); err == nil {
		return path
	}
	var st unix.Stat_t
	if unix.Fstat(int(f.Fd()), &st) != nil {
		return f.Name()
	}
	for _, pattern := range []string{"/dev/pts/*", "/dev/tty*"} {
		paths, _ := filepath.Glob(pattern)
		for _, p := range paths {
			var other unix.Stat_t
			if unix.Stat(p, &other) == nil && other.Rdev == st.Rdev {
				return p
			}
		}
	}
	return f.Name()
}

// pane returns the tmux pane of a live session, making it if it is missing.
func (c *Control) pane(ctx context.Context, ref string) (target, tmux.Pane, error) {
	t, err := c.find(ctx, ref)
	if err != nil {
		return t, tmux.Pane{}, err
	}
	r, err := launcher.Look(t.dir, t.agent)
	if err != nil {
		return t, tmux.Pane{}, err
	}
	switch {
	case r.Life.Status == clients.Unknown:
		return t, tmux.Pane{}, session.Errorf(session.Unknown, "cannot tell whether session %s runs: %s", t.ID, r.Life.Reason)
	case r.Life.Status == clients.Dead:
		p, err := c.Tmux.Find(ctx, t.ID) // the last screen of a client that failed
		if err != nil {
			if t.ClosedAt != nil {
				return t, p, closed(t)
			}
			return t, p, session.Errorf(session.Refused, "session %s is not running", t.ID).WithHint("berth open %s", t.ID)
		}
		return t, p, nil
	case clients.Check(r.Super.Process).Status == clients.Dead:
		return t, tmux.Pane{}, orphaned(t, r)
	}
	c.knock(ctx, t)
	p, err := launcher.EnsurePane(ctx, c.Tmux, launcher.Pane{Session: t.ID, Run: t.CurrentRun, Cwd: t.Cwd, Size: launcher.DefaultSize})
	return t, p, err
}

// ClosePane removes the tmux pane that this process runs in, if it is the session's
// own: for a host that ends well.
func (c *Control) ClosePane(ctx context.Context, id string) {
	pane := launcher.Getenv(c.Caller.Env, "TMUX_PANE")
	if pane != "" && c.Tmux.InsideThisServer(launcher.Getenv(c.Caller.Env, "TMUX")) {
		c.Tmux.ClosePane(ctx, pane, id) //nolint:errcheck // tmux closes it by itself, if later
	}
}

// Capture is the text of the session's screen, as tmux has it.
func (c *Control) Capture(ctx context.Context, ref string, o tmux.CaptureOptions) ([]byte, error) {
	t, p, err := c.pane(ctx, ref)
	if err != nil {
		return nil, err
	}
	// The pane's host may not have joined yet, or be behind. One that cannot be waited
	// for (the client has ended, tmux is stuck) has its screen as it is.
	fence := protocol.Greeting{As: protocol.AsFence, Run: t.CurrentRun}
	launcher.Ring(c.Home.RunSocket(t.CurrentRun), fence, drawWait) //nolint:errcheck // see above
	return c.Tmux.Capture(ctx, p, o)
}

// Attach says how to look at the session in tmux: an argv to become in this
// terminal, or nil when the client that the caller is in was switched to it.
func (c *Control) Attach(ctx context.Context, ref string, readOnly, move bool) ([]string, error) {
	t, p, err := c.pane(ctx, ref)
	if err != nil {
		return nil, err
	}
	if move {
		g := protocol.Greeting{As: protocol.AsTake, Run: t.CurrentRun}
		if err := launcher.Ring(c.Home.RunSocket(t.CurrentRun), g, drawWait); err != nil {
			if c.over(t) {
				return nil, session.Errorf(session.Refused, "the agent of session %s has ended: there is no keyboard to take", t.ID).WithHint("berth open %s", t.ID)
			}
			return nil, session.Errorf(session.Unknown, "cannot take the keyboard of session %s: %w", t.ID, err).WithHint("berth show %s", t.ID)
		}
	}
	env := launcher.Getenv(c.Caller.Env, "TMUX")
	switch {
	case env == "":
		return c.Tmux.AttachArgv(p.SessionName, readOnly), nil
	case c.Tmux.InsideThisServer(env):
		return nil, c.Tmux.SwitchClient(ctx, launcher.Getenv(c.Caller.Env, "TMUX_PANE"), p.SessionName)
	}
	return nil, session.Errorf(session.Refused, "this terminal is inside another tmux server, where attaching would nest one tmux in the other").
		WithHint("env -u TMUX %s", c.Tmux.AttachLine(p.SessionName, readOnly))
}
