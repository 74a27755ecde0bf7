package clients

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/session"

	"golang.org/x/sys/unix"
)

// soon gives nothing much time: what ignores SIGTERM in a test does so for ever.
var soon = Grace{TermFor: 100 * time.Millisecond, KillFor: patience}

func end(t *testing.T, spec TreeSpec, g Grace) Ended {
	t.Helper()
	e, err := EndTree(background, spec, g)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var deaf = []unix.Signal{unix.SIGHUP, unix.SIGTERM}

// Nothing that ignores signals or hides outlives its client, and each is counted
// once (fault 42).
func TestEndStubbornTree(t *testing.T) {
	tr := play(t, actor{Name: "client", Ignore: deaf, Below: []actor{
		{Name: "child", Ignore: deaf},
		{Name: "setsid", Setsid: true, Ignore: deaf},
		{Name: "nohup", Ignore: []unix.Signal{unix.SIGHUP}},
		{Name: "daemon", Twice: true, Setsid: true, Ignore: deaf},
		{Name: "env-i", CleanEnv: true, Ignore: deaf},
		{Name: "stopped", Stopped: true, Ignore: deaf},
	}})
	e := end(t, tr.spec(), soon)
	if e.Count != 7 || len(e.Left)+len(e.Spared)+len(e.Unverified) != 0 {
		t.Errorf("%+v, want 7 ended", e)
	}
	tr.allGone()
}

// The leader ends when asked, what it leaves is ended too (fault 43), and what was an
// unmarked child of it is still known when it is nobody's any more.
func TestEndPolitely(t *testing.T) {
	tr := play(t, actor{Name: "client", Leave: true, Ignore: deaf, Below: []actor{
		{Name: "child"},
		{Name: "stopped", Stopped: true},
		{Name: "daemon", Twice: true, Setsid: true},
		{Name: "env-i", CleanEnv: true, Ignore: deaf, Below: []actor{{Name: "below-env-i", CleanEnv: true}}},
	}})
	root := open(t, tr.root)
	start := time.Now()
	e := end(t, tr.spec(), Grace{
		Polite:    func() error { return root.Signal(unix.SIGUSR1) },
		PoliteFor: patience, TermFor: 100 * time.Millisecond, KillFor: patience,
	})
	if e.Count != 6 || len(e.Left) != 0 || time.Since(start) > patience/2 {
		t.Errorf("%+v after %v, want 6 ended at once", e, time.Since(start))
	}
	tr.allGone()
}

// A client that cannot be asked, or does not listen, is told.
func TestEndAfterPoliteness(t *testing.T) {
	for name, polite := range map[string]func() error{
		"fails":   func() error { return errors.New("no terminal") },
		"ignored": func() error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			tr := play(t, actor{Name: "client"})
			g := soon
			g.Polite, g.PoliteFor = polite, 20*time.Millisecond
			if name == "fails" {
				g.PoliteFor = time.Hour
			}
			if e := end(t, tr.spec(), g); e.Count != 1 || len(e.Left) != 0 {
				t.Errorf("%+v, want 1 ended", e)
			}
		})
	}
}

// Ending what is gone already does nothing (fault 45).
func TestEndNothing(t *testing.T) {
	asked := false
	e := end(t, TreeSpec{Run: "nobody", Roots: []Identity{{}}}, Grace{Polite: func() error { asked = true; return nil }})
	if e.Count != 0 || len(e.Left) != 0 || asked {
		t.Errorf("%+v, asked %v", e, asked)
	}
}

// The client and its tool are ended, the session started inside lives (fault 70).
func TestEndLeavesBorders(t *testing.T) {
	tr := play(t, actor{Name: "client", Below: []actor{
		{Name: "tool"},
		{Name: "supervisor", Env: []string{RoleMark + "=supervisor"}, Setsid: true, Twice: true, Below: []actor{
			{Name: "inner", CleanEnv: true, Env: []string{RunMark + "=inner"}},
		}},
		{Name: "unconfirmed", Env: []string{RoleMark + "=tmux"}, Setsid: true},
		{Name: "agent", Exe: alias(t, "ssh-agent"), Setsid: true},
		{Name: "other", Env: []string{RunMark + "=other"}},
	}})
	spec := tr.spec()
	spec.Spare = []string{"ssh-agent"}
	spec.IsBorder = func(p Process) bool { return p.Role == RoleSupervisor }
	e := end(t, spec, soon)
	if e.Count != 2 {
		t.Errorf("%d ended, want 2", e.Count)
	}
	tr.want("left", e.Left)
	tr.want("spared", e.Spared, "agent")
	tr.lives("supervisor", "inner", "unconfirmed", "agent", "other")
}

// A tree that forks while it is being ended is ended (fault 82).
func TestEndForkingTree(t *testing.T) {
	tr := play(t, actor{Name: "client", Ignore: deaf, Relay: 400, Below: []actor{{Name: "child", Relay: 400}}})
	e := end(t, tr.spec(), soon)
	if len(e.Left) != 0 || e.Count < 4 {
		t.Errorf("%d ended, left %v", e.Count, e.Left)
	}
	tr.allGone()
}

// What does not die is named, at the end of its time (fault 47); the rest is gone.
func TestEndUnkillable(t *testing.T) {
	tr := play(t, actor{Name: "client", Below: []actor{{Name: "stuck"}, {Name: "forbidden"}}})
	e := newEnding(tr.spec(), Grace{TermFor: 20 * time.Millisecond, KillFor: 20 * time.Millisecond})
	defer e.close()
	e.send = func(h *Handle, sig unix.Signal) error {
		switch h.Identity() {
		case tr.id("stuck"):
			return nil
		case tr.id("forbidden"):
			return unix.EPERM
		}
		return h.Signal(sig)
	}
	if err := e.run(background); err != nil {
		t.Fatal(err)
	}
	r := e.result()
	tr.want("left", r.Left, "stuck", "forbidden")
	if r.Count != 1 {
		t.Errorf("%d ended, want 1", r.Count)
	}
	for _, p := range r.Left {
		if !strings.Contains(p.Why, "SIGKILL") && !strings.Contains(p.Why, "not permitted") {
			t.Errorf("%s is left: %q", p, p.Why)
		}
	}
}

// The same with a process that the kernel itself keeps: a frozen one.
func TestEndFrozen(t *testing.T) {
	group := filepath.Join("/sys/fs/cgroup/freezer", fmt.Sprintf("berth-test-%d", os.Getpid()))
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skipf("no version 1 freezer: %v", err)
	}
	tr := play(t, actor{Name: "client", Below: []actor{{Name: "frozen"}}})
	freezer := func(file, value string) {
		if err := os.WriteFile(filepath.Join(group, file), []byte(value), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	freezer("cgroup.procs", fmt.Sprint(tr.id("frozen").PID))
	freezer("freezer.state", "FROZEN")
	defer func() {
		h, err := Open(tr.id("frozen"))
		freezer("freezer.state", "THAWED")
		if err != nil {
			t.Fatal(err)
		}
		waitFor(t, h)
		h.Close()
		tr.allGone()
		os.Remove(group)
	}()
	e := end(t, tr.spec(), Grace{TermFor: 20 * time.Millisecond, KillFor: 20 * time.Millisecond})
	tr.want("left", e.Left, "frozen")
	if e.Count != 1 {
		t.Errorf("%d ended, want 1", e.Count)
	}
}

// A cancelled end says what is left.
func TestEndCancelled(t *testing.T) {
	tr := play(t, actor{Name: "client", Ignore: deaf})
	ctx, cancel := context.WithCancelCause(background)
	cause := errors.New("enough")
	e, err := EndTree(ctx, tr.spec(), Grace{Polite: func() error { cancel(cause); return nil }, PoliteFor: time.Hour})
	if err != cause {
		t.Errorf("%v, want the cause", err)
	}
	tr.want("left", e.Left, "client")
	tr.lives("client")
}

// supervised is a supervisor helper with its client's tree.
type supervised struct {
	*troupe
	ask func(line string, answer any)
}

func superviseActor(t *testing.T, a actor) supervised {
	t.Helper()
	run := session.NewID()
	a.Env = append([]string{RunMark + "=" + run}, a.Env...)
	a.Setsid = true
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := a.cmd("supervisor")
	cmd.Env = append(os.Environ(), quickExit, helperVar+"=supervisor", RoleMark+"=supervisor")
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	cmd.ExtraFiles = []*os.File{w}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	tr := newTroupe(t, run, cmd, r)
	tr.gather(a.count())
	tr.root = tr.id(a.Name)
	t.Cleanup(func() {
		stdin.Close()
		cmd.Wait()
		tr.clear()
	})
	answers := json.NewDecoder(stdout)
	return supervised{tr, func(line string, answer any) {
		t.Helper()
		if _, err := fmt.Fprintln(stdin, line); err != nil {
			t.Fatal(err)
		}
		if err := answers.Decode(answer); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}}
}

// A supervisor ends the orphans it adopted too, also those without any mark, and
// reaps them, without taking the status of the client os/exec waits for.
func TestEndAdopted(t *testing.T) {
	s := superviseActor(t, actor{Name: "client", Below: []actor{
		{Name: "child"},
		{Name: "escaped", CleanEnv: true, Twice: true, Setsid: true, Ignore: deaf, Below: []actor{
			{Name: "below-escaped", CleanEnv: true},
		}},
		{Name: "daemon", Twice: true, Setsid: true},
	}})
	var e Ended
	s.ask("end", &e)
	if e.Count != 5 || len(e.Left)+len(e.Unverified) != 0 {
		t.Errorf("%+v, want 5 ended", e)
	}
	var reaped int
	s.ask("reap", &reaped)
	if reaped < 2 {
		t.Errorf("%d reaped, want both orphans at least", reaped)
	}
	var state string
	s.ask("wait", &state)
	if state != "signal: terminated" {
		t.Errorf("the client's end is %q", state)
	}
}

// ReapAdopted leaves alone what os/exec waits for, in our session or not.
func TestReapLeavesOwn(t *testing.T) {
	for _, setsid := range []bool{false, true} {
		cmd := exec.Command("false")
		cmd.SysProcAttr = &unix.SysProcAttr{Setsid: setsid}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		id := Identity{PID: cmd.Process.Pid}
		w, err := openWatch(id)
		if err != nil {
			t.Fatal(err)
		}
		if !w.wait() {
			t.Fatal("no end seen")
		}
		w.close()
		if _, err := ReapAdopted(func(pid int) bool { return pid == id.PID }); err != nil {
			t.Fatal(err)
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
			t.Errorf("Wait: %v, want exit status 1", err)
		}
	}
}
