package launcher

import (
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"berth/clients"
	"berth/internal/point"
	"berth/internal/protocol"
	"berth/internal/provider"
)

// Variables that berth gives to a client, besides the marks of package clients.
const (
	EnvBin     = "BERTH_BIN"
	EnvSession = "BERTH_SESSION_ID"
)

// agentMarkers are the variables by which an agent tells its children that they run
// inside it; in another agent they switch off history or give it a wrong identity.
// Seen in claude 2.1.332, codex 0.171, opencode 1.18.33, gemini 0.61.
var agentMarkers = []string{
	"CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID", "CLAUDE_CODE_ENTRYPOINT",
	"CLAUDE_CODE_EXECPATH", "CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN", "CLAUDE_CODE_CHILD_NOTES_DIR",
	"CLAUDE_CODE_SESSION_ATTENDED", "CLAUDE_EFFORT", "CLAUDE_CODE_LAUNCHED_BY_SESSION_IDS", "CLAUDE_PROJECT_DIR", "AI_AGENT",
	"CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_TOOL_CALL_ID", "CODEX_CI", "CODEX_VERSION", "CODEX_MANAGED_BY_NPM", "CODEX_MANAGED_PACKAGE_ROOT",
	"OPENCODE", "OPENCODE_PID", "AGENT", "GEMINI_CLI", "GEMINI_SESSION_ID",
}

// agentLooks are settings an agent forces on its children for its own sake; they are
// dropped only where one of its markers stands beside them.
var agentLooks = []string{"NO_COLOR", "PAGER", "GIT_PAGER", "GH_PAGER", "GIT_EDITOR", "GIT_TERMINAL_PROMPT", "COREPACK_ENABLE_AUTO_PIN"}

// terminalIdentity are the variables that describe the terminal a command was typed
// in. The client's terminal is ours, so they would be lies.
var terminalIdentity = []string{
	"TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERM_SESSION_ID", "LC_TERMINAL", "LC_TERMINAL_VERSION",
	"TMUX", "TMUX_PANE", "STY", "WINDOW", "WINDOWID", "VTE_VERSION", "WT_SESSION", "WT_PROFILE_ID", "KONSOLE_VERSION",
	"GNOME_TERMINAL_SCREEN", "GNOME_TERMINAL_SERVICE", "COLUMNS", "LINES", "COLORFGBG", "__CFBundleIdentifier",
}

// terminalPrefixes begin families of such variables.
var terminalPrefixes = []string{"KITTY_", "WEZTERM_", "ALACRITTY_", "GHOSTTY_", "ITERM_", "KONSOLE_", "ZELLIJ"}

// Scrub is env without the marks of an enclosing session (BERTH_*), of an enclosing
// agent, and of the terminal.
func Scrub(env []string) []string {
	inside := slices.ContainsFunc(env, func(kv string) bool {
		k, _, _ := strings.Cut(kv, "=")
		return slices.Contains(agentMarkers, k)
	})
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		k, _, ok := strings.Cut(kv, "=")
		return !ok || strings.HasPrefix(k, "BERTH_") || slices.Contains(agentMarkers, k) ||
			slices.Contains(terminalIdentity, k) ||
			slices.ContainsFunc(terminalPrefixes, func(p string) bool { return strings.HasPrefix(k, p) }) ||
			inside && slices.Contains(agentLooks, k)
	})
}

// ClientEnv is the environment of a client started by a command whose own is env.
// The last value of a name counts, as it does for getenv in most programs' libraries
// after an exec by a shell.
func ClientEnv(env []string, s Spec, bin string) []string {
	vars := map[string]string{}
	for _, kv := range s.Provider.Environ(Scrub(env)) {
		k, v, _ := strings.Cut(kv, "=")
		vars[k] = v
	}
	for _, f := range s.Provider.Files {
		if v := f.Variable(string(s.Dir()), vars[f.Env]); v != "" {
			vars[f.Env] = v
		}
	}
	maps.Copy(vars, map[string]string{
		"TERM": "xterm-256color", "COLORTERM": "truecolor", "PWD": s.Client.Cwd,
		EnvBin: bin, EnvSession: s.Session,
		clients.HomeMark: s.Home.Dir, clients.RunMark: s.Run, clients.RunDirMark: string(s.Dir()),
	})
	return list(vars)
}

// ownNames are the variables our own processes need of whoever starts them: enough
// to find programs, the person's configuration and the language of messages.
var ownNames = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"}

// OwnEnv is the environment of our own long-lived processes: a few names of env and
// extra. It holds no secret and no mark of any run.
func OwnEnv(env []string, extra ...string) []string {
	vars := map[string]string{}
	for _, kv := range env {
		if k, v, ok := strings.Cut(kv, "="); ok && slices.Contains(ownNames, k) {
			vars[k] = v
		}
	}
	for _, kv := range append(point.Environ(), extra...) {
		k, v, _ := strings.Cut(kv, "=")
		vars[k] = v
	}
	return list(vars)
}

func list(vars map[string]string) []string {
	out := make([]string, 0, len(vars))
	for _, k := range slices.Sorted(maps.Keys(vars)) {
		out = append(out, k+"="+vars[k])
	}
	return out
}

// Getenv looks name up in env; the last value counts.
func Getenv(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v
		}
	}
	return ""
}

// DefaultSize is the client's terminal until a terminal says otherwise.
var DefaultSize = protocol.Size{Cols: 120, Rows: 40}

// Bin is the path of this program, for what we start and for BERTH_BIN.
func Bin() (string, error) { return bin() }

var bin = sync.OnceValues(os.Executable)

// Values fills a provider's templates.
func (s Spec) Values() provider.Values {
	return provider.Values{Prompt: string(s.Prompt), NativeID: s.NativeID, Model: s.Model, Cwd: s.Client.Cwd, RunDir: string(s.Dir())}
}
