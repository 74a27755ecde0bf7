package control

import (
	"errors"
	"os"
	"slices"
	"strings"

	"berth/internal/provider"
	"berth/internal/session"
	"berth/launcher"
	"berth/manifest"

	"golang.org/x/sys/unix"
)

// fill completes the client's command and checks it.
func (c *Control) fill(spec *launcher.Spec) error {
	if err := usable(spec.Client.Cwd); err != nil {
		return err
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
	spec.PromptInArgv = len(prompt) > 0 && spec.Provider.PromptInArgv(spec.Resume)
	if len(prompt) == 0 || spec.PromptInArgv {
		spec.Prompt = nil // there is none to type
	}
	return nil
}

// usable checks that a client can work in the directory.
func usable(dir string) error {
	st, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return session.Errorf(session.Failed, "cannot start in %s: the directory does not exist", dir).WithHint("mkdir -p %q", dir)
	case err != nil:
		return session.Errorf(session.Failed, "cannot start in %s: %w", dir, err)
	case !st.IsDir():
		return session.Errorf(session.Failed, "cannot start in %s: it is not a directory", dir)
	}
	if err := unix.Access(dir, unix.R_OK|unix.X_OK); err != nil {
		return session.Errorf(session.Failed, "cannot start in %s: %w", dir, err).WithHint("chmod u+rx %q", dir)
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

// stillThere refuses to resume a conversation whose history, which was seen, has gone: the
// agent would say so at best, and begin another at worst.
func stillThere(t target, n manifest.Native) error {
	if !n.Recorded || n.HistoryPath == "" {
		return nil
	}
	if _, err := os.Stat(n.HistoryPath); !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return session.Errorf(session.Refused, "session %s cannot be resumed: the history of its conversation is gone (%s)", t.ID, n.HistoryPath).
		WithHint("put it back, or start a new conversation: berth restart --fresh %s", t.ID)
}

// passing are the beginnings of variables that come and go with a login or a
// terminal and that no agent misses.
var passing = []string{"SSH_", "XDG_", "DBUS_", "DISPLAY", "WAYLAND_", "INVOCATION_ID", "JOURNAL_STREAM", "SHLVL", "OLDPWD", "_", "LS_COLORS", "LESS", "MAIL", "LINES", "COLUMNS", "BERTH"}

// tellMissing names the variables that the client had when the run was started and
// will not have now.
func (c *Control) tellMissing(t target, m manifest.Manifest) {
	var missing []string
	for _, name := range m.EnvNames {
		set := slices.ContainsFunc(c.Caller.Env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
		ours := name == "TERM" || name == "COLORTERM" || name == "PWD" || t.agent.Env[name] != "" ||
			slices.ContainsFunc(t.agent.Files, func(f provider.File) bool { return f.Env == name })
		if !set && !ours && !slices.ContainsFunc(passing, func(p string) bool { return strings.HasPrefix(name, p) }) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		c.Notice("session %s was started with variables that are not set here: %s", t.ID, strings.Join(missing, " "))
	}
}
