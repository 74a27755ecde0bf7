package launcher

import (
	"context"
	"errors"
	"path/filepath"

	"berth/clients"
	"berth/internal/home"
	"berth/internal/point"
	"berth/internal/protocol"
	"berth/tmux"
)

// Tmux is the tmux server of home h, for a command whose environment is env. It is
// started, by whoever needs it first, with a clean environment and as a border: it
// belongs to no run, whichever run's agent typed the command.
func Tmux(h home.Home, env []string) *tmux.Server {
	getenv := func(name string) string { return Getenv(env, name) }
	user := home.ConfigDir(getenv)
	if user != "" {
		user = filepath.Join(user, "tmux.conf")
	}
	return tmux.New(tmux.Options{
		Socket: h.TmuxSocket(), Conf: h.TmuxConf(), Record: h.TmuxRecord(), UserConf: user,
		Env: OwnEnv(env, clients.RoleMark+"="+clients.RoleTmux, clients.HomeMark+"="+h.Dir),
	})
}

// Pane says which tmux session a run is to have.
type Pane struct {
	Session string
	Run     string
	Cwd     string
	Size    protocol.Size
}

// EnsurePane makes sure that the session has its tmux session with a host in it,
// and returns its pane: a live one is adopted, a dead one is given a new host, a
// missing one is made.
func EnsurePane(ctx context.Context, srv *tmux.Server, p Pane) (tmux.Pane, error) {
	bin, err := Bin()
	if err != nil {
		return tmux.Pane{}, err
	}
	if err := tmux.WriteConf(srv.Conf, tmux.ConfOptions{WatchCommand: []string{bin, "hook", "tmux"}}); err != nil {
		return tmux.Pane{}, err
	}
	argv := []string{bin, "serve-conversation", "--launched", p.Run}
	for range 3 { // between a look and an act the session may come or go
		pane, err := srv.Find(ctx, p.Session)
		switch {
		case err == nil && !pane.Dead:
			return pane, nil
		case err == nil:
			if err = srv.Respawn(ctx, pane, argv); err == nil {
				return srv.Find(ctx, p.Session)
			}
			if !errors.Is(err, tmux.ErrNotDead) {
				return pane, err
			}
		case errors.Is(err, tmux.ErrNoSession), errors.Is(err, tmux.ErrNoServer):
			pane, err = srv.NewSession(ctx, tmux.Spec{
				Name: tmux.Name(p.Session), ID: p.Session, Cwd: p.Cwd, Argv: argv,
				Width: p.Size.Cols, Height: p.Size.Rows,
			})
			point.Here("command.tmux-session")
			if err == nil || !errors.Is(err, tmux.ErrDuplicate) {
				return pane, err
			}
		default:
			return tmux.Pane{}, err
		}
	}
	return srv.Find(ctx, p.Session)
}
