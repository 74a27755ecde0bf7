package control

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

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
	out = append(out, c.logoutFindings(ctx)...)
	names := c.Agents.Names()
	found := make([]Finding, len(names))
	each(len(names), func(i int) { found[i] = c.agentFinding(ctx, names[i]) })
	return append(out, found...)
}

// logoutFindings says whether what runs would survive the end of the login it was
// started in, where systemd has the say.
func (c *Control) logoutFindings(ctx context.Context) []Finding {
	ctx, cancel := context.WithTimeout(ctx, versionWait)
	defer cancel()
	out, err := exec.CommandContext(ctx, "loginctl", "show-user", "--property=Linger", "--value", strconv.Itoa(os.Geteuid())).Output()
	if err != nil { // no systemd, or no login of it
		return nil
	}
	kills, _ := exec.CommandContext(ctx, "busctl", "get-property", "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "KillUserProcesses").Output()
	switch lingers := strings.TrimSpace(string(out)) == "yes"; {
	case strings.Contains(string(kills), "true") && !lingers:
		return []Finding{{"logout", LevelMend, "systemd ends your sessions when you log out (KillUserProcesses)", "loginctl enable-linger; then start sessions with: systemd-run --user --scope berth new …"}}
	case strings.Contains(string(kills), "true"):
		return []Finding{{"logout", LevelNote, "systemd ends what was started in a login when you log out (KillUserProcesses)", "start sessions with: systemd-run --user --scope berth new …"}}
	}
	return []Finding{{"logout", LevelOK, "sessions survive it", ""}}
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

// versionWait bounds an agent that is asked for its version.
const versionWait = 10 * time.Second

var versionText = regexp.MustCompile(`\d+\.\d+\.\d+`)

func (c *Control) agentFinding(ctx context.Context, name string) Finding {
	f := Finding{Check: "provider " + name, Level: LevelOK}
	p, err := c.Agents.Get(name)
	if err != nil {
		return Finding{f.Check, LevelMend, err.Error(), ""}
	}
	argv, err := p.StartArgv(provider.Values{NativeID: anyID, Prompt: "-", Model: "-", Cwd: "/", RunDir: "/"})
	if err == nil {
		cwd, _ := os.Getwd()
		f.Detail, err = p.Executable(argv[0], cwd, launcher.Getenv(c.Caller.Env, "PATH"))
	}
	if err != nil {
		f.Level, f.Detail = LevelNote, err.Error()
		if p.Tried != "" && !strings.Contains(argv[0], "/") {
			f.Detail = argv[0] + " is not in PATH"
		}
	}
	if err != nil || p.Tried == "" {
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, versionWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, f.Detail, "--version")
	cmd.Env, cmd.WaitDelay = p.Environ(launcher.Scrub(c.Caller.Env)), time.Second
	out, err := cmd.Output()
	switch version := versionText.FindString(string(out)); {
	case err != nil || version == "":
		f.Level, f.Detail = LevelNote, fmt.Sprintf("%s does not tell its version: %v", f.Detail, err)
	case newer(version, p.Tried):
		f.Level, f.Detail = LevelNote, fmt.Sprintf("%s %s; the newest that berth was tried with is %s", f.Detail, version, p.Tried)
	default:
		f.Detail += " " + version
	}
	return f
}

// newer reports whether version a, of numbers with dots between, comes after b.
func newer(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		x, _ := strconv.Atoi(as[i])
		y, _ := strconv.Atoi(bs[i])
		if x != y {
			return x > y
		}
	}
	return len(as) > len(bs)
}
