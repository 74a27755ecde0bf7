//go:build linux

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func init() { roles["spoiled"] = spoiled }

// spoiled becomes the command of its arguments with every signal blocked, and those
// ignored that a process may ignore.
func spoiled(args []string) int {
	signal.Ignore()
	runtime.LockOSThread()
	var all unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, nil); err != nil {
		return 98
	}
	os.Unsetenv("E2E_ROLE")
	fmt.Fprintln(os.Stderr, syscall.Exec(args[0], args, os.Environ()))
	return 98
}

// The mirror is an agent that is no Go program: it writes down what the kernel and a
// shell say of the process that berth made.
const mirrorScript = `{ cat /proc/self/status; echo umask $(umask); echo nofile $(ulimit -S -n) $(ulimit -H -n); echo core $(ulimit -S -c); env; } > "$1/mirror.tmp"
mv "$1/mirror.tmp" "$1/mirror"
exec sleep 1000`

// mirrorAgent makes the mirror a provider, and returns where it writes.
func (w *world) mirrorAgent(more ...string) (dir string) {
	w.t.Helper()
	dir = filepath.Dir(w.home)
	w.config(fmt.Sprintf("[provider.mirror]\nstart = %s\n%s\n",
		strings.NewReplacer("{{", "{{", "{", "{{", "}", "}}").Replace(tomlArray([]string{"/bin/sh", "-c", mirrorScript, "mirror", dir})), strings.Join(more, "\n")))
	return dir
}

// mirrored waits for what the next mirror saw, by its lines.
func (w *world) mirrored(dir string) (lines []string) {
	w.t.Helper()
	path := filepath.Join(dir, "mirror")
	w.eventually("what the agent sees", func() bool {
		data, err := os.ReadFile(path)
		lines = strings.Split(string(data), "\n")
		return err == nil
	})
	if err := os.Remove(path); err != nil {
		w.t.Fatal(err)
	}
	return lines
}

// from runs berth from a shell that was set up by these lines.
func (w *world) from(setup string, env []string, args ...string) result {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", setup + "\nexec \"$@\"", "sh", berthBin}, args...)...)
	cmd.Dir, cmd.Env = w.cwd, append(slices.Clone(w.env), env...)
	var out, errOut strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); cmd.ProcessState == nil {
		w.t.Fatal(err)
	}
	return result{w.t, args, out.String(), errOut.String(), cmd.ProcessState.ExitCode()}
}

// However berth is called, its client starts with default dispositions and an empty
// mask: an agent that ignores INT or blocks TERM could not be stopped politely.
func TestClientsStartWithDefaultSignals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		run  func(w *world, args ...string) result
	}{
		{"from a shell", func(w *world, args ...string) result { return w.run(args...) }},
		{"under nohup", func(w *world, args ...string) result { return w.from(`set -- nohup "$@"`, nil, args...) }},
		{"with traps set to ignore", func(w *world, args ...string) result {
			return w.from(`trap "" HUP INT QUIT PIPE TERM TSTP TTIN TTOU USR1 CHLD`, nil, args...)
		}},
		{"with everything blocked and ignored", func(w *world, args ...string) result {
			self, err := os.Executable()
			if err != nil {
				w.t.Fatal(err)
			}
			return w.from(`set -- "`+self+`" "$@"`, []string{"E2E_ROLE=spoiled"}, args...)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			dir := w.mirrorAgent()
			c.run(w, "new", "mirror").want(0)
			wantDefaultSignals(t, w.mirrored(dir))
		})
	}
}

// The same from a pane: tmux ignores TTIN and TTOU, and a pane's program inherits it.
func TestClientsOfPanesStartWithDefaultSignals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := w.mirrorAgent()
	r := w.run("new", "mirror", "--json").want(0).record()
	w.mirrored(dir)
	w.run("stop", r.ID).want(0)

	socket := filepath.Join(filepath.Dir(w.home), "other")
	server := func(args ...string) []byte {
		cmd := exec.Command("tmux", append([]string{"-f", "/dev/null", "-S", socket}, args...)...)
		cmd.Env = w.env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %v: %v\n%s", args, err, out)
		}
		return out
	}
	server("new-session", "-d", "-x", "80", "-y", "24", berthBin, "restart", "--fresh", r.ID)
	defer func() {
		var pid int
		fmt.Sscan(string(server("-N", "display-message", "-p", "#{pid}")), &pid)
		if pid > 1 {
			syscall.Kill(pid, syscall.SIGTERM)
		}
	}()
	server("set-option", "-g", "exit-empty", "off")
	wantDefaultSignals(t, w.mirrored(dir))
}

func wantDefaultSignals(t *testing.T, mirrored []string) {
	t.Helper()
	for _, set := range []string{"SigBlk", "SigIgn", "SigCgt"} {
		if !slices.Contains(mirrored, set+":\t0000000000000000") {
			i := slices.IndexFunc(mirrored, func(l string) bool { return strings.HasPrefix(l, set) })
			t.Errorf("%s is not empty: %s", set, mirrored[max(i, 0)])
		}
	}
}

// The tmux server was started from another environment long ago: a client gets the
// variables, umask and limits of the command that started it, and nothing else's.
func TestClientsGetTheCallersEnvironment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := w.mirrorAgent()
	w.from("umask 022; ulimit -S -n 1024", []string{"STALE=from-long-ago", "CHANGED=long-ago"}, "new", "mirror").want(0)
	if long := w.mirrored(dir); !slices.Contains(long, "STALE=from-long-ago") || !slices.Contains(long, "umask 0022") {
		t.Fatalf("the first one: %q", long)
	}
	for _, c := range []struct {
		umask  string
		nofile int
	}{{"0077", 256}, {"0022", 640}, {"0277", 100}, {"0000", 1000}} {
		t.Run(c.umask, func(t *testing.T) {
			w.t = t
			setup := fmt.Sprintf("umask %s; ulimit -S -n %d; ulimit -H -n 2000; ulimit -S -c 0", c.umask, c.nofile)
			r := w.from(setup, []string{"FRESH=of-now", "CHANGED=now"}, "new", "mirror", "--json").want(0).record()
			for range 2 { // started and started again
				got := w.mirrored(dir)
				for _, want := range []string{"umask " + c.umask, fmt.Sprintf("nofile %d 2000", c.nofile), "core 0", "FRESH=of-now", "CHANGED=now", "BERTH_SESSION_ID=" + r.ID} {
					if !slices.Contains(got, want) {
						t.Errorf("lacks %q: %q", want, got[max(0, slices.IndexFunc(got, func(l string) bool { return strings.HasPrefix(l, "umask") })):])
					}
				}
				if slices.ContainsFunc(got, func(l string) bool { return strings.HasPrefix(l, "STALE=") }) {
					t.Error("STALE came from long ago")
				}
				w.from(setup, []string{"FRESH=of-now", "CHANGED=now"}, "restart", "--fresh", r.ID).want(0)
			}
			w.mirrored(dir)
		})
	}
	w.t = t
	w.wantPrivate()
}

// wantPrivate fails the test if anybody else could read or write anything of the home.
func (w *world) wantPrivate() {
	w.t.Helper()
	err := filepath.WalkDir(w.home, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return nil // gone since
		}
		st, err := e.Info()
		if err != nil {
			return nil
		}
		want := os.FileMode(0o600)
		switch {
		case st.IsDir():
			want = 0o700
		case st.Mode()&os.ModeSocket != 0:
			return nil // tmux makes its own 0770; what guards sockets is their directory
		}
		if st.Mode().Perm()&^want != 0 {
			w.t.Errorf("%s has mode %04o", path, st.Mode().Perm())
		}
		return nil
	})
	if err != nil {
		w.t.Error(err)
	}
}

// Typed by an agent, or in a terminal that says much of itself, a command starts a
// client that knows of neither.
func TestMarkersDoNotReachTheClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := w.mirrorAgent()
	markers := []string{
		"CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_EXECPATH",
		"CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN", "CLAUDE_CODE_CHILD_NOTES_DIR", "CLAUDE_CODE_SESSION_ATTENDED", "CLAUDE_EFFORT",
		"AI_AGENT", "GIT_EDITOR", "COREPACK_ENABLE_AUTO_PIN", "CLAUDE_CODE_LAUNCHED_BY_SESSION_IDS", "CLAUDE_PROJECT_DIR",
		"CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_TOOL_CALL_ID", "CODEX_CI", "CODEX_VERSION", "CODEX_MANAGED_BY_NPM", "CODEX_MANAGED_PACKAGE_ROOT",
		"NO_COLOR", "PAGER", "GIT_PAGER", "GH_PAGER", "OPENCODE", "OPENCODE_PID", "AGENT", "GEMINI_CLI", "GEMINI_SESSION_ID", "GIT_TERMINAL_PROMPT",
		"TMUX", "TMUX_PANE", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "KITTY_WINDOW_ID", "VTE_VERSION", "WEZTERM_PANE", "STY",
		"BERTH_SESSION", "BERTH_ROLE", "BERTH_TERMINAL_ID", "BERTH_FROM_THE_FUTURE",
	}
	env := []string{"CODEX_HOME=/codex", "CLAUDE_CONFIG_DIR=/claude", "BERTH_RUN_ID=0000000000000000", "BERTH_RUN_DIR=/outer", "BERTH_SESSION_ID=outer"}
	for _, m := range markers {
		env = append(env, m+"=of-the-outer-agent")
	}
	r := w.runWith(env, nil, "new", "mirror", "--json").want(0).record()
	got := w.mirrored(dir)
	for _, l := range got {
		if strings.Contains(l, "of-the-outer-agent") || strings.Contains(l, "outer") {
			t.Errorf("reached the client: %s", l)
		}
	}
	for _, want := range []string{"CODEX_HOME=/codex", "CLAUDE_CONFIG_DIR=/claude", "BERTH_RUN_ID=" + r.Run, "BERTH_RUN_DIR=" + w.runDir(r), "BERTH_HOME=" + w.home, "TERM=xterm-256color"} {
		if !slices.Contains(got, want) {
			t.Errorf("lacks %s", want)
		}
	}
	if shown := w.tmuxEnvironment(); strings.Contains(shown, "outer") {
		t.Errorf("tmux has it: %s", shown)
	}
}

// tmuxEnvironment is what the home's tmux server would give to a program it starts.
func (w *world) tmuxEnvironment() string {
	w.t.Helper()
	cmd := exec.Command("tmux", "-N", "-S", filepath.Join(w.home, "sock", "tmux"), "show-environment", "-g")
	cmd.Env = w.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}
