//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/session"
)

// shell makes a shell script a provider called it, with these lines of configuration.
func (w *world) shell(script string, more ...string) {
	w.config(fmt.Sprintf("[provider.it]\nstart = [\"/bin/sh\", \"-c\", %q]\n%s\n", script, strings.Join(more, "\n")))
}

// What is wrong with a start is one error with the real cause, before anything is
// recorded.
func TestNothingIsStarted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		prep func(w *world)
		mend func(w *world) // undoes what keeps list from working
		env  func(w *world) []string
		args []string
		exit int
		says string
	}{
		{name: "program not in PATH", prep: func(w *world) { w.config("[provider.it]\nstart = [\"no-such-agent\"]\n") },
			exit: 1, says: "cannot find no-such-agent in PATH"},
		{name: "program is no file", prep: func(w *world) { w.config("[provider.it]\nstart = [\"/no/such/agent\"]\n") },
			exit: 1, says: "cannot run /no/such/agent: there is no such file"},
		{name: "program is not executable", prep: func(w *world) { w.config("[provider.it]\nstart = [\"/etc/passwd\"]\n") },
			exit: 1, says: "cannot run /etc/passwd: it is not executable"},
		{name: "no such provider", args: []string{"nobody"}, exit: 2, says: `there is no provider "nobody"`},
		{name: "tmux is missing", prep: func(w *world) { w.shell("sleep 100") },
			env: func(w *world) []string { return []string{"PATH=" + emptyDir(w)} }, exit: 1, says: "tmux is not installed"},
		{name: "the socket directory is open to others", prep: func(w *world) {
			w.shell("sleep 100")
			w.run("list").want(0)
			if err := os.Chmod(filepath.Join(w.home, "sock"), 0o777); err != nil {
				w.t.Fatal(err)
			}
		}, mend: func(w *world) { os.Chmod(filepath.Join(w.home, "sock"), 0o700) }, exit: 4, says: "others can reach into it"},
		{name: "the directory was never there", prep: func(w *world) { w.shell("sleep 100") },
			args: []string{"it", "--cwd", "/no/such/directory"}, exit: 1, says: "cannot start in /no/such/directory"},
		{name: "the directory is a file", prep: func(w *world) { w.shell("sleep 100") },
			args: []string{"it", "--cwd", "/etc/passwd"}, exit: 1, says: "cannot start in /etc/passwd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			if c.prep != nil {
				c.prep(w)
			}
			var env []string
			if c.env != nil {
				env = c.env(w)
			}
			if c.args == nil {
				c.args = []string{"it"}
			}
			r := w.runWith(env, nil, append([]string{"new"}, c.args...)...).want(c.exit).says(c.says)
			if r.out != "" {
				t.Errorf("stdout: %q", r.out)
			}
			if c.mend != nil {
				c.mend(w)
			}
			if out := w.run("list", "--all", "--json").want(0).out; strings.TrimSpace(out) != "[]" {
				t.Errorf("it was recorded: %s", out)
			}
			w.nothingRuns()
		})
	}
}

func emptyDir(w *world) string {
	dir := filepath.Join(filepath.Dir(w.home), "empty")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	return dir
}

// The directory is deleted while a session is stopped: its restart is refused before
// anything starts, and works once the directory is back.
func TestDirectoryDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := filepath.Join(w.cwd, "gone")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w.unguardedAgent()
	r := w.run("new", "unguarded", "--json", "--cwd", dir, "--", request).want(0).record()
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	w.run("restart", r.ID).want(1).says(dir, "nothing was stopped", "mkdir -p")
	if now := w.show(r.ID); now.Client == nil || now.Client.PID != r.Client.PID {
		t.Fatalf("the agent was touched: %+v", now)
	}
	w.run("stop", r.ID).want(0)
	w.run("restart", r.ID).want(1).says(dir)
	w.nothingRuns()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w.run("restart", r.ID).want(0)
}

// The directory is replaced between the check and the start: what would run in
// another place than the one asked for does not run.
func TestDirectoryReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.unguardedAgent()
	dir, away := filepath.Join(w.cwd, "here"), filepath.Join(w.cwd, "away")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	release := filepath.Join(filepath.Dir(w.home), "release")
	b := w.start([]string{"BERTHTEST_POINT=gate.spawned=wait:" + release}, "new", "unguarded", "--cwd", dir, "--", request)
	w.eventually("the gate waits", func() bool { return exists(release + ".here") })
	if err := os.Rename(dir, away); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(release, nil, 0o600)
	b.wait().want(1).says("was replaced while starting")
	if n := len(agentLog(w.agentLogPath(), "start")); n != 0 {
		t.Fatalf("%d agents started", n)
	}
	w.nothingRuns()
}

// announced makes a provider one that would announce its conversation: only then can
// berth tell an agent that is well from one that is about to end.
var announced = []string{`native_id = "announced"`, `resume = ["/bin/false", "{native_id}"]`}

// A client that ends at once with a status is reported with it and with what it
// wrote, every time, and nothing of it is left.
func TestEndsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shell("echo its last words; exit 3", announced...)
	for i := range soak(8, 200) {
		r := w.run("new", "it", "--json").want(1).
			says("exited with status 3", "its last words", "sha256", "executable /bin/sh", "directory "+w.cwd, "home "+w.home)
		rec := r.record()
		if rec.LastEnd == nil || rec.LastEnd.ExitCode == nil || *rec.LastEnd.ExitCode != 3 || rec.Client != nil {
			t.Fatalf("round %d: %+v", i, rec)
		}
		if again := w.show(rec.ID); again.Phase != session.Ended || *again.LastEnd.ExitCode != 3 {
			t.Fatalf("round %d: %+v", i, again)
		}
		w.nothingRuns("BERTH_RUN_ID=" + rec.Run)
	}
}

// A live client that cannot be resumed by the deadline: running, not resumable yet,
// exit 5, why, and how to join; it stays, unless it was to be killed.
func TestNotResumableInTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		flags string
		why   string
	}{
		{"nothing is announced", "--silent", "not ready for the opening request yet"},
		{"no native history is recorded", "--no-history", "has not recorded the conversation yet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			env := []string{"DEMO_AGENT_FLAGS=" + c.flags}
			r := w.runWith(env, nil, "new", "demo", "--json", "--ready-timeout", "1s", "--", "hello").want(5).
				says("running, not resumable yet", c.why, "berth open ")
			rec := r.record()
			if rec.Resumable || rec.Client == nil || !alive(rec.Client.PID) || rec.State != "active" || rec.ElapsedMS == nil {
				t.Fatalf("%+v", rec)
			}
			x := w.open("open", rec.ID) // needs no waiting
			w.eventually("joined", func() bool { h := w.show(rec.ID).HeldBy; return h != nil && *h == "terminal" })
			x.typeIn("\x1c")
			if code := x.wait(); code != 0 {
				t.Fatalf("open: exit %d\n%s", code, x.all())
			}
			if !alive(rec.Client.PID) {
				t.Fatal("it did not stay")
			}
			w.run("stop", rec.ID).want(0)

			r = w.runWith(env, nil, "new", "demo", "--json", "--ready-timeout", "1s", "--on-timeout", "kill", "--", "hello").want(5).
				says("not resumable in", "was ended")
			if rec = r.record(); rec.Client != nil || rec.LastEnd == nil || rec.ElapsedMS == nil {
				t.Fatalf("%+v", rec)
			}
			w.nothingRuns()
		})
	}
}

// Sessions that no waiting makes resumable are no failure.
func TestNotToBeResumable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shell("sleep 1000")
	r := w.run("new", "demo", "--json").want(0).record()
	if r.Resumable || r.Reason == nil || *r.Reason != session.NothingSaid || r.NativeID == nil || r.Client == nil {
		t.Errorf("nothing said: %+v", r)
	}
	w.run("restart", r.ID).want(0)
	if again := w.show(r.ID); *again.NativeID != *r.NativeID || again.Run != r.Run {
		t.Errorf("nothing said, restarted: %+v", again)
	}

	r = w.run("new", "it", "--json").want(0).record()
	if r.Resumable || r.Reason == nil || *r.Reason != "provider cannot resume" || r.NativeID != nil || r.Client == nil {
		t.Errorf("no native id: %+v", r)
	}
	w.run("restart", r.ID).want(4).says("nothing was stopped", "berth restart --fresh "+r.ID)
	if !alive(r.Client.PID) {
		t.Error("the refused restart ended it")
	}
	w.run("restart", "--fresh", r.ID).want(0)
	if again := w.show(r.ID); again.Run == r.Run || again.Client == nil || alive(r.Client.PID) {
		t.Errorf("fresh: %+v", again)
	}
}

// What cannot be read is not guessed, not replaced, and hides nobody else.
func TestUnreadableManifest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bad, good := w.newDemo("bad"), w.newDemo("good")
	w.run("stop", bad.ID).want(0)
	path := filepath.Join(w.runDir(bad), "manifest.json")
	garbage := []byte("{ this is not it")
	if err := os.WriteFile(path, garbage, 0o600); err != nil {
		t.Fatal(err)
	}
	w.run("restart", bad.ID).want(7).says(path)
	x := w.open("open", bad.ID)
	if code := x.wait(); code != 7 {
		t.Errorf("open: exit %d\n%s", code, x.all())
	}
	w.run("serve-conversation", bad.Run).want(7).says(path)
	if b, err := os.ReadFile(path); err != nil || string(b) != string(garbage) {
		t.Errorf("the manifest is now %q, %v", b, err)
	}
	var list []session.Record
	w.run("list", "--json").want(0).decode(&list)
	if len(list) != 2 {
		t.Fatalf("list: %+v", list)
	}
	for _, r := range list {
		for _, a := range r.Actions {
			if told := a.Unavailable != nil && strings.Contains(*a.Unavailable, path); told != (r.ID == bad.ID) {
				t.Errorf("%s of %s: %v", a.Kind, r.Title, a.Unavailable)
			}
		}
	}
	if r := w.show(good.ID); !r.Resumable {
		t.Errorf("the other: %+v", r)
	}
}

// A program that may be run and not read has no digest, and is started all the same.
func TestUnreadableExecutable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if os.Geteuid() == 0 {
		// Root reads everything; a program that removes itself is as unreadable.
		path := filepath.Join(w.cwd, "vanishing")
		if err := os.WriteFile(path, []byte("#!/bin/sh\nrm \"$0\"\nexit 3\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		w.config(fmt.Sprintf("[provider.it]\nstart = [%q]\n%s\n", path, strings.Join(announced, "\n")))
		w.run("new", "it").want(1).says("exited with status 3", "sha256 unavailable")
		return
	}
	path := filepath.Join(w.cwd, "secret")
	data, err := os.ReadFile("/bin/false")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o100); err != nil {
		t.Fatal(err)
	}
	w.config(fmt.Sprintf("[provider.it]\nstart = [%q]\n%s\n", path, strings.Join(announced, "\n")))
	w.run("new", "it").want(1).says("exited with status 1", "sha256 unavailable")
}
