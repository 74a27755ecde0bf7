//go:build linux

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"berth/internal/session"
)

// patience bounds waits for things that must happen. It says nothing about how fast
// they happen: a loaded machine may take most of it.
const patience = 30 * time.Second

// world is one home with everything around it that a person has.
type world struct {
	t    *testing.T
	home string   // BERTH_HOME
	env  []string // of every command
	cwd  string
	bin  string // the berth that commands are
	uid  uint32 // whose the commands are; 0: ours
}

// newWorld makes a home of its own in a short temporary directory. At the end
// everything it started is stopped and must be gone.
func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldIn(t, "")
}

// newWorldIn makes it in base; "" is the system's directory for such.
func newWorldIn(t *testing.T, base string) *world {
	t.Helper()
	dir, err := os.MkdirTemp(base, "bw-")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, home: filepath.Join(dir, "home"), cwd: filepath.Join(dir, "work"), bin: berthBin}
	for _, d := range []string{w.cwd, filepath.Join(dir, "config", "berth")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.env = []string{
		"PATH=" + filepath.Dir(berthBin) + ":" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8", "TERM=xterm-256color",
		"BERTH_HOME=" + w.home, "XDG_CONFIG_HOME=" + filepath.Join(dir, "config"),
		"DEMO_AGENT_SPEED=0", "GORACE=atexit_sleep_ms=0", suite,
	}
	t.Cleanup(func() {
		w.end()
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return w
}

// end stops all sessions and the home's tmux server, and checks that nothing of the
// home is left.
func (w *world) end() {
	w.t.Helper()
	w.run("stop", "--all")
	if b, err := os.ReadFile(filepath.Join(w.home, "tmux.json")); err == nil {
		var rec struct{ Server struct{ PID int } }
		if json.Unmarshal(b, &rec) == nil && rec.Server.PID > 1 {
			syscall.Kill(rec.Server.PID, syscall.SIGKILL)
		}
	}
	var left []string
	if within(patience, func() bool { left = marked("BERTH_HOME=" + w.home); return len(left) == 0 }) {
		return
	}
	w.t.Errorf("processes of home %s are left:\n%s", w.home, strings.Join(left, "\n"))
	for _, l := range left { // so that they do not spoil other tests
		var pid int
		if _, err := fmt.Sscan(l, &pid); err == nil && pid > 1 {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// result is how a command ended.
type result struct {
	t           *testing.T
	args        []string
	out, errOut string
	code        int // -1: ended by a signal
}

// run runs berth and waits for it.
func (w *world) run(args ...string) result { return w.runWith(nil, nil, args...) }

// runWith runs berth with more environment (later values win) and a standard input.
func (w *world) runWith(env []string, stdin []byte, args ...string) result {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	cmd := w.command(ctx, env, args...)
	cmd.Stdin = bytes.NewReader(stdin)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		w.t.Fatalf("berth %v: %v", args, err)
	}
	if ctx.Err() != nil {
		w.t.Fatalf("berth %v did not end in %v\n%s%s", args, 2*patience, out.String(), errOut.String())
	}
	return result{w.t, args, out.String(), errOut.String(), cmd.ProcessState.ExitCode()}
}

// command is a berth command of this world, not started.
func (w *world) command(ctx context.Context, env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, w.bin, args...)
	if w.uid != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: w.uid, Gid: w.uid}}
	}
	cmd.Dir, cmd.Env = w.cwd, append(append([]string{}, w.env...), env...)
	cmd.WaitDelay = time.Second
	return cmd
}

// want fails the test unless the command ended with this status.
func (r result) want(code int) result {
	r.t.Helper()
	if r.code != code {
		r.t.Fatalf("berth %v: exit %d, want %d\nstdout: %s\nstderr: %s", r.args, r.code, code, r.out, r.errOut)
	}
	return r
}

// says fails the test unless every text is in what the command said to people.
func (r result) says(texts ...string) result {
	r.t.Helper()
	for _, s := range texts {
		if !strings.Contains(r.errOut, s) {
			r.t.Fatalf("berth %v: stderr lacks %q\nstdout: %s\nstderr: %s", r.args, s, r.out, r.errOut)
		}
	}
	return r
}

// record decodes the one document that the command printed.
func (r result) record() session.Record {
	r.t.Helper()
	var rec session.Record
	r.decode(&rec)
	return rec
}

func (r result) decode(v any) {
	r.t.Helper()
	d := json.NewDecoder(strings.NewReader(r.out))
	if err := d.Decode(v); err != nil {
		r.t.Fatalf("berth %v: stdout is not the document: %v\nstdout: %s\nstderr: %s", r.args, err, r.out, r.errOut)
	}
	if d.More() {
		r.t.Fatalf("berth %v: more than one document\n%s", r.args, r.out)
	}
}

// newDemo starts a demo session with an opening request and returns its record.
func (w *world) newDemo(request string) session.Record {
	w.t.Helper()
	return w.run("new", "demo", "--json", "--", request).want(0).record()
}

// show is what berth knows of a session now.
func (w *world) show(id string) session.Record {
	w.t.Helper()
	return w.run("show", id, "--json").record()
}

// config writes config.toml.
func (w *world) config(text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(filepath.Dir(w.home), "config", "berth", "config.toml"), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// runDir is the run directory of a session's current run.
func (w *world) runDir(r session.Record) string {
	return filepath.Join(w.home, "runs", r.Run[:2], r.Run)
}

// eventually waits until cond holds; what names it in the failure.
func (w *world) eventually(what string, cond func() bool) {
	w.t.Helper()
	if !within(patience, cond) {
		w.t.Fatalf("never: %s", what)
	}
}

// within looks at cond again and again until it holds, or d is over, and reports
// whether it does. All that tests wait for in these files is waited for by it.
func within(d time.Duration, cond func() bool) bool {
	limit := time.NewTimer(d)
	defer limit.Stop()
	look := time.NewTicker(3 * time.Millisecond)
	defer look.Stop()
	for !cond() {
		select {
		case <-look.C:
		case <-limit.C:
			return cond()
		}
	}
	return true
}

// alive reports whether the process runs: a zombie does not, unless threads of it are
// still on their way out, with its files and locks.
func alive(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:])) // f[0] is field 3 of proc_pid_stat(5)
	return f[0] != "X" && (f[0] != "Z" || f[17] != "1" && f[17] != "0")
}
