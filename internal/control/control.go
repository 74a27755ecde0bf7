package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"berth/clients"
	"berth/internal/home"
	"berth/internal/provider"
	"berth/internal/registry"
	"berth/internal/session"
	"berth/launcher"
	"berth/lock"
	"berth/manifest"
	"berth/tmux"
)

// Times of commands.
const (
	lockWait   = 20 * time.Second // for the launch lock: a stop or a launch by somebody else
	acceptWait = 3 * time.Second  // for a supervisor to accept a request; silence beyond is taken over
	endWait    = 15 * time.Second // for a request to be carried out: three grace periods and some
	leaveWait  = 3 * time.Second  // for a supervisor to leave after its client
	dialWait   = 500 * time.Millisecond
)

// Caller is the command's own process: whose environment a client gets, and where
// it was typed.
type Caller struct {
	Env     []string
	Umask   int    // before berth made its own private
	Command string // as named in evidence and refusals: "berth stop"
	Version string
}

// Control is one home, opened for a command. Close it when done.
type Control struct {
	Home   *home.Home
	DB     *registry.DB
	Tmux   *tmux.Server
	Agents provider.Set
	Caller Caller
	// Notice tells the person something that is no error, one line at a time.
	Notice func(format string, args ...any)

	started time.Time
}

// Open opens the home that the caller's environment names.
func Open(ctx context.Context, c Caller, notice func(string, ...any)) (*Control, error) {
	started := time.Now()
	getenv := func(name string) string { return launcher.Getenv(c.Env, name) }
	dir, err := home.Path(getenv)
	if err != nil {
		return nil, err
	}
	h, err := home.Open(dir)
	if err != nil {
		return nil, err
	}
	bin, err := launcher.Bin()
	if err != nil {
		return nil, err
	}
	config := "" // without a HOME there is none: a config.toml that lies about here is nobody's
	if dir := home.ConfigDir(getenv); dir != "" {
		config = filepath.Join(dir, "config.toml")
	}
	agents, err := provider.Load(config, bin)
	if err != nil { // what runs is still looked at and stopped
		notice("%v; nothing can be started until that is mended", err)
		agents = provider.Broken(err)
	}
	if err := registryLost(h); err != nil {
		return nil, err
	}
	db, err := registry.Open(ctx, h.Registry())
	if err != nil {
		return nil, err
	}
	return &Control{Home: h, DB: db, Tmux: launcher.Tmux(*h, c.Env), Agents: agents, Caller: c, Notice: notice, started: started}, nil
}

// registryLost refuses a home whose registry is gone while its runs are there: with a
// new one, agents that run would be nobody's.
func registryLost(h *home.Home) error {
	if _, err := os.Lstat(h.Registry()); !errors.Is(err, fs.ErrNotExist) {
		return nil // registry.Open says what is wrong with it
	}
	runs, err := filepath.Glob(filepath.Join(h.Dir, "runs", "??", "[a-z0-9]*"))
	if err != nil || len(runs) == 0 {
		return nil
	}
	var live []int
	for _, run := range runs {
		if s, err := manifest.Dir(run).Supervisor(); err == nil && clients.Check(s.Process).Status == clients.Live {
			live = append(live, s.Process.PID)
		}
	}
	still := ""
	if len(live) > 0 {
		still = ", and supervisors still run: pids " + pids(live) + " (kill -TERM ends one with its agent)"
	}
	return session.Errorf(session.Failed, "%s is gone, so its sessions were lost; their runs are in %s%s", h.Registry(), filepath.Join(h.Dir, "runs"), still).
		WithHint("put a copy back, or start with no sessions: mv %s/runs %[1]s/runs.lost", h.Dir)
}

// Close closes the home.
func (c *Control) Close() error { return c.DB.Close() }

// by names the command in evidence.
func (c *Control) by() string { return fmt.Sprintf("%s (pid %d)", c.Caller.Command, os.Getpid()) }

// target is a session with its current run.
type target struct {
	registry.Session
	dir   manifest.Dir
	agent provider.Provider
}

// find resolves what a person typed: a session, or a run, which must be the current
// one of its session.
func (c *Control) find(ctx context.Context, ref string) (target, error) {
	id, err := c.DB.Resolve(ctx, ref)
	if err != nil && session.ClassOf(err) == session.NotFound {
		if run, rerr := c.DB.ResolveRun(ctx, ref); rerr == nil {
			t, err := c.load(ctx, run.SessionID)
			if err == nil && t.CurrentRun != run.ID {
				err = session.Errorf(session.Stale, "run %s is a past run of session %s; the current one is %s", run.ID, t.ID, t.CurrentRun).
					WithHint("berth open %s", t.ID)
			}
			return t, err
		}
	}
	if err != nil {
		return target{}, err
	}
	return c.load(ctx, id)
}

func (c *Control) load(ctx context.Context, id string) (target, error) {
	s, err := c.DB.Session(ctx, id)
	if err != nil {
		return target{}, err
	}
	return c.target(s), c.Home.CheckRun(s.CurrentRun)
}

// target adds what belongs to a session's row. A provider that is no longer
// configured can still be looked at and stopped: then the agent has a name only.
func (c *Control) target(s registry.Session) target {
	agent, err := c.Agents.Get(s.Provider)
	if err != nil {
		agent = provider.Provider{Name: s.Provider}
	}
	return target{Session: s, dir: manifest.Dir(c.Home.Run(s.CurrentRun)), agent: agent}
}

// withLaunchLock runs f with the session's launch lock and the session as it is
// under it. f may give the lock up early by calling release.
func (c *Control) withLaunchLock(ctx context.Context, ref string, f func(t target, release func()) error) error {
	t, err := c.find(ctx, ref)
	if err != nil {
		return err
	}
	l, err := c.lockLaunch(ctx, t.ID)
	if err != nil {
		return err
	}
	held := true
	release := func() {
		if held {
			held = false
			l.Release() //nolint:errcheck // closing a lock file cannot lose anything
		}
	}
	defer release()
	if t, err = c.load(ctx, t.ID); err != nil {
		return err
	}
	return f(t, release)
}

func (c *Control) lockLaunch(ctx context.Context, id string) (*lock.Lock, error) {
	l, err := lock.Acquire(ctx, c.Home.Locks(), id, lock.Launch, c.Caller.Command, lockWait)
	var held *lock.HeldError
	if errors.As(err, &held) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, session.Errorf(session.Refused, "session %s is being changed by %s; waited %v for it", id, held.Holder, lockWait).
			WithHint("berth show %s", id)
	}
	return l, err
}

// supervised reports whether a supervisor lives, by the only thing that can tell.
func (c *Control) supervised(t target) (bool, error) {
	held, _, err := lock.Held(c.Home.Locks(), t.ID, lock.Life)
	if err != nil {
		return false, session.Errorf(session.Unknown, "%w", err)
	}
	return held, nil
}

// tree is the run's tree, for ending it from outside its supervisor.
func (c *Control) tree(t target) (clients.TreeSpec, error) {
	cs, err := clients.Read(string(t.dir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return clients.TreeSpec{}, session.Errorf(session.Unknown, "%w", err)
	}
	spec := clients.TreeSpec{Run: t.CurrentRun, Spare: c.Agents.Spare, IsBorder: launcher.IsBorder}
	for _, cl := range cs {
		if cl.Err != nil {
			continue
		}
		spec.Roots = append(spec.Roots, cl.Receipt.Process)
		if cl.End == nil {
			spec.Lost = append(spec.Lost, cl.Receipt.Process)
			continue
		}
		spec.Kin = append(spec.Kin, cl.End.SurvivorProcesses...)
	}
	if s, err := t.dir.Supervisor(); err == nil {
		spec.Adopter = s.Process
	}
	return spec, nil
}

// scan looks for what runs of the run.
func (c *Control) scan(t target) (clients.Tree, error) {
	spec, err := c.tree(t)
	if err != nil {
		return clients.Tree{}, err
	}
	found, err := clients.Scan(spec)
	if err != nil {
		return found, session.Errorf(session.Unknown, "cannot look for processes of session %s: %w", t.ID, err)
	}
	return found, nil
}

// inside reports whether this very process belongs to the session's tree.
func (c *Control) inside(t target) bool {
	if launcher.Getenv(c.Caller.Env, clients.RunMark) == t.CurrentRun && launcher.Getenv(c.Caller.Env, clients.HomeMark) == c.Home.Dir {
		return true
	}
	spec, err := c.tree(t)
	if err != nil {
		return false
	}
	in, err := clients.Inside(spec, clients.Self())
	return err == nil && in
}

func closed(t target) error {
	return session.Errorf(session.Refused, "session %s was completed %s", t.ID, t.ClosedAt.Local().Format("2006-01-02 15:04")).
		WithHint("berth new %s --cwd %s", t.Provider, strings.TrimSpace(t.Cwd))
}
