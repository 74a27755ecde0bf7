package control

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"berth/clients"
	"berth/internal/provider"
	"berth/internal/registry"
	"berth/internal/session"
	"berth/launcher"
	"berth/manifest"
)

// Finding is one thing doctor looked at.
type Finding struct {
	Check  string `json:"check"`
	Level  string `json:"level"` // "ok", "note" or "mend"
	Detail string `json:"detail"`
	Hint   string `json:"hint"` // the command that mends it, or ""
}

// Levels of findings.
const (
	LevelOK   = "ok"
	LevelNote = "note" // worth knowing, nothing is wrong
	LevelMend = "mend" // something does not work until it is mended
)

// Doctor looks at what berth stands on.
func (c *Control) Doctor(ctx context.Context) []Finding {
	out := []Finding{{"home", LevelOK, c.Home.Dir + ", sockets in " + c.Home.Sockets, ""}}
	out = append(out, c.tmuxFindings(ctx)...)
	out = append(out, inotifyFinding(c.Home.Dir), c.supervisorsFinding(ctx))
	if err := c.Agents.Err(); err != nil {
		out = append(out, Finding{"config.toml", LevelMend, err.Error(), session.HintOf(err)})
	}
	for _, name := range c.Agents.Names() {
		out = append(out, c.agentFinding(name))
	}
	return out
}

func (c *Control) tmuxFindings(ctx context.Context) []Finding {
	if err := c.Tmux.Supported(ctx); err != nil {
		return []Finding{{"tmux", LevelMend, err.Error(), "apt-get install tmux   # 3.2 or newer; without it only terminals work"}}
	}
	v, err := c.Tmux.Version(ctx)
	if err != nil {
		return []Finding{{"tmux", LevelMend, err.Error(), "tmux -V"}}
	}
	out := []Finding{{"tmux", LevelOK, v.Text, ""}}
	s := c.Tmux.Status(ctx)
	server := Finding{"tmux server", LevelOK, s.Life.Reason, ""}
	switch s.Life.Status {
	case clients.Unknown:
		server.Level = LevelMend
		server.Hint = fmt.Sprintf("ps -p %d   # the server on record", s.Record.Server.PID)
	case clients.Dead:
		server.Level, server.Detail = LevelNote, "not running; the next session starts it"
	}
	out = append(out, server)
	if s.UserConf != "" {
		out = append(out, Finding{"tmux.conf", LevelNote, "yours is in part ignored: " + strings.TrimSpace(s.UserConf), "edit " + c.Tmux.UserConf})
	}
	return out
}

// supervisorsFinding says which versions the running supervisors are of: one that was
// started before an upgrade goes on as it is.
func (c *Control) supervisorsFinding(ctx context.Context) Finding {
	f := Finding{Check: "supervisors", Level: LevelOK}
	count, older := map[string]int{}, ""
	for e, err := range c.DB.Each(ctx, registry.Filter{}) {
		if err != nil {
			return Finding{f.Check, LevelMend, err.Error(), ""}
		}
		s, err := manifest.Dir(c.Home.Run(e.CurrentRun)).Supervisor()
		if err != nil || clients.Check(s.Process).Status != clients.Live {
			continue
		}
		count[s.Version]++
		if s.Version != c.Caller.Version {
			older = e.ID
		}
	}
	var versions []string
	for _, v := range slices.Sorted(maps.Keys(count)) {
		versions = append(versions, fmt.Sprintf("%d of version %s", count[v], v))
	}
	if f.Detail = strings.Join(versions, ", "); f.Detail == "" {
		f.Detail = "none runs"
	}
	if older != "" {
		f.Level, f.Hint = LevelNote, "berth restart "+older+"   # gives it the supervisor of this version, "+c.Caller.Version
	}
	return f
}

func inotifyFinding(dir string) Finding {
	w := manifest.Watch(dir)
	defer w.Close()
	if err := w.Err(); err != nil {
		return Finding{"inotify", LevelNote, fmt.Sprintf("none left (%v): changes are seen by doorbell and by looking twice a second", err),
			"sudo sysctl fs.inotify.max_user_instances=1024"}
	}
	return Finding{"inotify", LevelOK, "changes are seen at once", ""}
}

func (c *Control) agentFinding(name string) Finding {
	f := Finding{Check: "provider " + name, Level: LevelOK}
	p, err := c.Agents.Get(name)
	if err != nil {
		return Finding{f.Check, LevelMend, err.Error(), ""}
	}
	argv, err := p.StartArgv(provider.Values{NativeID: anyID, Prompt: "-", Model: "-", Cwd: "/", RunDir: "/"})
	if err == nil {
		cwd, _ := os.Getwd()
		f.Detail, err = provider.Executable(argv[0], cwd, launcher.Getenv(c.Caller.Env, "PATH"))
	}
	if err != nil {
		f.Level, f.Detail = LevelNote, err.Error()
	}
	return f
}
