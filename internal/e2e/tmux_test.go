//go:build linux

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"berth/internal/session"
)

// Whatever a title holds, the tmux name is ours, safe, and what tmux prints.
func TestTitlesAreNotTmuxNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, title := range map[string]string{
		"dots and colons":  "a.b:c.0",
		"format":           "#{pid} #(touch " + filepath.Join(w.cwd, "ran") + ") #S",
		"backticks":        "`touch " + filepath.Join(w.cwd, "ran") + "` $(touch " + filepath.Join(w.cwd, "ran") + ")",
		"emoji":            "🚢 schiff é",
		"300 characters":   strings.Repeat("x", 300),
		"quotes and ends;": `it's "so";`,
		"leading dash":     "-d",
	} {
		t.Run(name, func(t *testing.T) {
			r := w.run("new", "demo", "--json", "--title="+title, "--", "hello").want(0).record()
			if !slices.Contains(w.tmuxSessions(), r.Tmux.Session) {
				t.Fatalf("%q is not among tmux's %q", r.Tmux.Session, w.tmuxSessions())
			}
			if strings.Trim(r.Tmux.Session, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
				t.Errorf("name %q", r.Tmux.Session)
			}
			if !strings.Contains(w.run("capture", r.ID).want(0).out, "You said: hello") {
				t.Errorf("no screen")
			}
		})
	}
	if exists(filepath.Join(w.cwd, "ran")) {
		t.Error("a title was run by a shell")
	}
}

// The operator splits the pane, renames the session, counts from 1: we still find our
// pane, and stop takes only that away.
func TestPeopleRearrangeTmux(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tmuxConf("set -g base-index 1\nset -g pane-base-index 1\n")
	r := w.newDemo("hello")
	pane := *w.tmuxHost(r.ID).Pane
	w.tmuxSays("split-window", "-b", "-t", pane, "sleep", "1000")
	w.tmuxSays("rename-session", "-t", "="+r.Tmux.Session, "my work")
	if !slices.Contains(strings.Split(w.tmuxSays("list-sessions", "-F", "#{session_name}"), "\n"), "my work") {
		t.Fatal("not renamed")
	}
	if !strings.Contains(w.run("capture", r.ID).want(0).out, "You said: hello") {
		t.Error("capture shows another pane")
	}
	x := w.open("attach", r.ID)
	x.waitFor("You said: hello")
	w.eventually("held by whoever is attached", func() bool { return w.heldBy(r.ID) == "tmux" })
	x.hangUp()
	w.eventually("nobody holds it", func() bool { return w.heldBy(r.ID) == "" })
	w.run("restart", r.ID).want(0)
	w.eventually("the pane's host joined the next supervisor", func() bool { return *w.tmuxHost(r.ID).Pane == pane })
	w.run("stop", r.ID).want(0)
	if s := w.tmuxSays("list-panes", "-a", "-F", "#{pane_id}"); strings.Contains(s, pane) {
		t.Errorf("after stop: panes %q", s)
	}
}

// tmuxConf writes the person's own tmux.conf.
func (w *world) tmuxConf(text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(filepath.Dir(w.home), "config", "berth", "tmux.conf"), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// A person's own tmux.conf, broken, slow or hostile, keeps no launch from working,
// and doctor says what is wrong with it.
func TestHostileTmuxConf(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, conf, doctor string }{
		{"broken line", "set -g mouse off\nno-such-command here\n", "no-such-command"},
		{"unknown option", "set -g no-such-option 1\n", "no-such-option"},
		{"slow", "run-shell 'sleep 60'\n", "not read to its end"},
		{"ends the server", "kill-server\n", "ended as it read it"},
		{"destroy-unattached", "set -g destroy-unattached on\nset -g exit-unattached on\n", ""},
		{"default-command", "set -g default-command 'exit 7'\nset -g default-shell /bin/false\n", ""},
		{"window-size manual", "set -g window-size manual\n", ""},
		{"hooks", "set-hook -g session-created kill-session\nset-hook -g after-new-session kill-server\n", ""},
		{"remain-on-exit off", "set -g remain-on-exit off\n", ""},
		{"prefix and status", "set -g prefix C-a\nset -g status on\n", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.tmuxConf(row.conf)
			r := w.newDemo("hello")
			if out := w.run("capture", r.ID).want(0).out; !strings.Contains(out, "You said: hello") {
				t.Errorf("screen:\n%s", out)
			}
			x := w.open("attach", r.ID)
			x.waitFor("You said: hello")
			x.hangUp()
			doctor := w.run("doctor")
			if !strings.Contains(doctor.out, row.doctor) {
				t.Errorf("doctor lacks %q:\n%s", row.doctor, doctor.out)
			}
			if row.doctor != "" && !strings.Contains(doctor.out, "tmux.conf") {
				t.Errorf("doctor does not name the file:\n%s", doctor.out)
			}
			w.run("stop", r.ID).want(0)
			for _, pid := range pids(w.marks(), "sleep 60") { // the person's own, which nobody else ends
				kill(t, pid, syscall.SIGKILL)
			}
		})
	}
}

// The socket of the live server is deleted: it is the same server afterwards, with
// the same session.
func TestDeletedTmuxSocket(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newDemo("hello")
	pane, server := *w.tmuxHost(r.ID).Pane, w.tmuxServer()
	for name, next := range map[string]func(){
		"capture": func() { w.run("capture", r.ID).want(0) },
		"new":     func() { w.newDemo("another") },
		"restart": func() { w.run("restart", r.ID).want(0) },
		"attach":  func() { x := w.open("attach", r.ID); x.waitFor("You said: hello"); x.hangUp() },
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.Remove(r.Tmux.Socket); err != nil {
				t.Fatal(err)
			}
			w.run("list").want(0)
			next()
			if w.tmuxServer() != server || !alive(server) {
				t.Errorf("server %d, was %d", w.tmuxServer(), server)
			}
			if got := *w.tmuxHost(r.ID).Pane; got != pane {
				t.Errorf("pane %s, was %s", got, pane)
			}
		})
	}
	if servers := pids(w.marks(), "tmux", "start-server"); len(servers) > 1 {
		t.Errorf("servers: %v", servers)
	}
}

// The tmux server is frozen: list works, nothing is called dead, every command ends.
func TestFrozenTmuxServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newDemo("hello")
	w.tmuxHost(r.ID)
	server := w.tmuxServer()
	w.freeze(server)
	defer kill(t, server, syscall.SIGCONT)

	opened := func(typed string) { // needs no tmux
		t.Helper()
		x := w.open("open", r.ID)
		x.waitFor("You said: hello")
		x.typeIn(typed + "\r")
		x.waitFor("You said: " + typed)
		x.typeIn("\x1c")
		if code := x.wait(); code != 0 {
			t.Errorf("open: exit %d\n%s", code, x.screen())
		}
	}
	opened("asked before tmux failed to answer")
	var list []session.Record
	w.run("list", "--json").want(0).decode(&list)
	if len(list) != 1 || list[0].State != "active" || list[0].Client == nil {
		t.Errorf("list: %+v", list)
	}
	w.run("capture", r.ID).want(7).says("does not answer")
	if out := w.run("doctor").out; !strings.Contains(out, "does not answer") || strings.Contains(out, "not running") {
		t.Errorf("doctor:\n%s", out)
	}
	a := w.open("attach", r.ID)
	a.gets(0, "does not answer")
	if code := a.wait(); code != 7 {
		t.Errorf("attach: exit %d", code)
	}
	opened("beside a frozen server") // and after it
	n := w.run("new", "demo", "--json", "--", "another").want(0).says("has no tmux session").record()
	if !n.Resumable {
		t.Errorf("new: %+v", n)
	}
	w.run("stop", n.ID).want(0)
	kill(t, server, syscall.SIGCONT)
	if !strings.Contains(w.run("capture", r.ID).want(0).out, "You said: beside a frozen server") {
		t.Error("the pane is not what it was")
	}
}

// new right after the last session has ended, and its tmux session with it.
func TestNewAfterTheLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for round := range soak(20, 200) {
		r := w.newDemo(fmt.Sprint("round ", round))
		if out := w.run("capture", r.ID).want(0).out; !strings.Contains(out, fmt.Sprint("You said: round ", round)) {
			t.Fatalf("round %d:\n%s", round, out)
		}
		w.run("stop", r.ID).want(0)
		if s := w.tmuxSessions(); len(s) != 0 {
			t.Fatalf("round %d: %v", round, s)
		}
	}
}

// The command is killed while tmux makes the session. The next one adopts it.
func TestCommandKilledWhileTmuxCreates(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"before", "after"} {
		t.Run(point, func(t *testing.T) {
			w := newWorld(t)
			arm := "BERTHTEST_POINT=command.tmux-session=kill"
			if point == "before" { // the client of tmux is asked, and its caller is gone
				arm = w.slowTmux()
			}
			b := w.start([]string{arm}, "new", "demo", "--", "hello")
			if point == "before" {
				w.eventually("tmux is about to make the session", func() bool { return exists(filepath.Join(w.cwd, "making")) })
				kill(t, b.cmd.Process.Pid, syscall.SIGKILL)
			}
			if code := b.wait().code; code != -1 {
				t.Fatalf("new: exit %d", code)
			}
			if err := os.WriteFile(filepath.Join(w.cwd, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			id := w.onlySession().ID
			x := w.open("attach", id)
			x.waitFor("You said: hello")
			w.eventually("one tmux session", func() bool { return len(w.tmuxSessions()) == 1 })
			x.hangUp()
			w.run("stop", id).want(0)
			w.nothingRuns()
		})
	}
}

// slowTmux puts a tmux in front of the real one that waits, before it makes a session
// the first time, until the file "go" is there. It returns the PATH to use.
func (w *world) slowTmux() string {
	w.t.Helper()
	real, err := exec.LookPath("tmux")
	if err != nil {
		w.t.Fatal(err)
	}
	bin := filepath.Join(filepath.Dir(w.home), "slow")
	script := fmt.Sprintf(`#!/bin/sh
case "$*" in *new-session*)
	if ! [ -e making ] && ! [ -e %[2]s/making ]; then
		: >%[2]s/making
		while ! [ -e %[2]s/go ]; do sleep 0.01; done
	fi;;
esac
exec %[1]s "$@"
`, real, w.cwd)
	if err := os.MkdirAll(bin, 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "tmux"), []byte(script), 0o700); err != nil {
		w.t.Fatal(err)
	}
	return "PATH=" + bin + ":" + filepath.Dir(berthBin) + ":" + os.Getenv("PATH")
}

// The tmux server is killed with three live sessions: the agents go on, their events
// say so, and each way to look at one makes its tmux session again with its screen.
func TestTmuxServerKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rs := []session.Record{w.newDemo("one"), w.newDemo("two"), w.newDemo("three")}
	for _, r := range rs {
		w.tmuxHost(r.ID)
	}
	w.killed(w.tmuxServer())
	for _, r := range rs {
		w.eventually("the pane's host is gone", func() bool { return len(w.show(r.ID).Hosts) == 0 })
		w.eventually("the event", func() bool { return w.event(r, "tmux server lost") })
	}
	for i, look := range []func(id string){
		func(id string) {
			if out := w.run("capture", id).want(0).out; !strings.Contains(out, "You said: one") {
				t.Errorf("capture:\n%s", out)
			}
		},
		func(id string) { x := w.open("attach", id); x.waitFor("You said: two"); x.hangUp() },
		func(id string) {
			x := w.open("open", id)
			x.waitFor("You said: three")
			w.eventually("a tmux session beside the terminal", func() bool { return len(w.show(id).Hosts) == 2 })
			x.typeIn("\x1c")
			x.wait()
		},
	} {
		look(rs[i].ID)
		now := w.show(rs[i].ID)
		if now.Client == nil || now.Client.PID != rs[i].Client.PID || now.Tmux.Pane == "" {
			t.Errorf("session %d: client %+v, tmux %+v", i+1, now.Client, now.Tmux)
		}
		if n := len(w.tmuxSessions()); n != i+1 {
			t.Errorf("%d tmux sessions after %d looks", n, i+1)
		}
	}
}

// event reports whether the session's run has an event by that name.
func (w *world) event(r session.Record, name string) bool {
	b, err := os.ReadFile(filepath.Join(w.runDir(r), "events.jsonl"))
	return err == nil && strings.Contains(string(b), fmt.Sprintf(`"event":%q`, name))
}

// Closing a pane by hand ends exactly that client.
func TestPaneClosedByHand(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		verb func(r session.Record, pane string) []string
	}{
		{"kill-pane", func(_ session.Record, pane string) []string { return []string{"kill-pane", "-t", pane} }},
		{"kill-session", func(r session.Record, _ string) []string { return []string{"kill-session", "-t", "=" + r.Tmux.Session} }},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			r, other := w.newDemo("this"), w.newDemo("other")
			pane := *w.tmuxHost(r.ID).Pane
			w.tmuxHost(other.ID)
			w.tmuxSays(row.verb(r, pane)...)
			w.eventually("its client ended", func() bool { return w.show(r.ID).LastEnd != nil })
			if end := w.show(r.ID).LastEnd; end == nil || end.Reason != "closed" || end.AskedBy == nil || !strings.Contains(*end.AskedBy, pane) {
				t.Errorf("end: %+v", end)
			}
			if left := marked("BERTH_RUN_ID=" + r.Run); len(left) > 0 {
				w.eventually("nothing of it runs", func() bool { return len(marked("BERTH_RUN_ID="+r.Run)) == 0 })
			}
			o := w.show(other.ID)
			if o.Client == nil || o.Client.PID != other.Client.PID || len(o.Hosts) != 1 {
				t.Errorf("the other: %+v", o)
			}
			w.run("restart", r.ID).want(0) // and comes back in a pane of its own
			if out := w.run("capture", r.ID).want(0).out; !strings.Contains(out, "You said: this") {
				t.Errorf("after restart:\n%s", out)
			}
		})
	}
}

// Configured so, a pane closed by hand ends nothing: the agent runs on, and is given
// a pane again.
func TestPaneClosedByHandIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("[close]\npane = \"keep\"\n")
	r := w.newDemo("this")
	w.tmuxSays("kill-pane", "-t", *w.tmuxHost(r.ID).Pane)
	w.eventually("its host has left", func() bool { return len(w.show(r.ID).Hosts) == 0 })
	if out := w.run("capture", r.ID).want(0).out; !strings.Contains(out, "You said: this") {
		t.Errorf("in the next pane:\n%s", out)
	}
	if now := w.show(r.ID); now.Client == nil || now.Client.PID != r.Client.PID {
		t.Errorf("client %+v, was %+v", now.Client, r.Client)
	}
}

// attach from inside tmux: in a pane of the same server the client is switched; in
// another server's the command to type is named; without a terminal it says so.
func TestAttachFromInside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.newDemo("first"), w.newDemo("second")
	w.tmuxHost(b.ID)
	t.Run("no terminal", func(t *testing.T) {
		w.run("attach", a.ID).want(2).says("attach needs a terminal", "berth capture "+a.ID)
	})
	t.Run("same server", func(t *testing.T) {
		attach := exec.Command("sh", "-c", a.Tmux.Attach)
		attach.Env = w.env
		x := startTTY(t, attach)
		x.waitFor("You said: first")
		w.eventually("held", func() bool { return w.heldBy(a.ID) == "tmux" })
		pane := *w.tmuxHost(a.ID).Pane
		w.tmuxSays("split-window", "-t", pane, "/usr/bin/env", "BERTH_HOME="+w.home, "XDG_CONFIG_HOME="+filepath.Join(filepath.Dir(w.home), "config"), berthBin, "attach", b.ID)
		x.waitFor("You said: second")
		w.eventually("the other is held now", func() bool { return w.heldBy(b.ID) == "tmux" && w.heldBy(a.ID) == "" })
		x.hangUp()
		w.eventually("nobody holds any", func() bool { return w.heldBy(b.ID) == "" })
	})
	t.Run("another server", func(t *testing.T) {
		own := w.ownTmux()
		w.own(own, "new-session", "-d", "-s", "mine", "-x", "200", "-y", "50", "/bin/sh", "-c", berthBin+" attach "+a.ID+"; echo status $?; sleep 1000")
		w.eventually("the refusal", func() bool {
			screen := w.own(own, "capture-pane", "-p", "-J", "-t", "mine")
			return strings.Contains(screen, "status 4") && strings.Contains(screen, "env -u TMUX "+a.Tmux.Attach)
		})
	})
}

// ownTmux is the socket of a person's own tmux server, ended with the test.
func (w *world) ownTmux() string {
	socket := filepath.Join(filepath.Dir(w.home), "own")
	w.t.Cleanup(func() { w.own(socket, "kill-server") })
	return socket
}

// own is what the person's own tmux server says.
func (w *world) own(socket string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-u", "-S", socket, "-f", "/dev/null"}, args...)...)
	cmd.Env = w.env
	out, err := cmd.CombinedOutput()
	if err != nil && args[0] != "kill-server" {
		w.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// Two homes and the person's own tmux server on one machine: neither sees, names or
// ends what is another's.
func TestTwoHomesAndAPersonsTmux(t *testing.T) {
	t.Parallel()
	w, v := newWorld(t), newWorld(t)
	own := w.ownTmux()
	w.own(own, "new-session", "-d", "-s", "mine", "sleep", "1000")
	mine := w.own(own, "display-message", "-p", "-t", "mine", "#{pid} #{pane_pid}")
	// Typed inside the person's tmux.
	inside := []string{"TMUX=" + own + "," + strings.Fields(mine)[0] + ",0", "TMUX_PANE=%0"}
	r := w.runWith(inside, nil, "new", "demo", "--json", "--", "hello").want(0).record()
	q := v.newDemo("hello")
	if r.Tmux.Socket == q.Tmux.Socket || strings.Contains(r.Tmux.Attach, own) {
		t.Fatalf("sockets %q and %q", r.Tmux.Socket, q.Tmux.Socket)
	}
	w.tmuxHost(r.ID)
	v.tmuxHost(q.ID)
	v.run("show", r.ID).want(3)
	v.run("stop", r.ID).want(3)
	v.run("attach", r.ID).want(2) // no terminal; and it would not be found
	v.run("stop", "--all").want(0)
	v.run("complete", q.ID).want(0)
	w.runWith(inside, nil, "restart", r.ID).want(0)
	if now := w.show(r.ID); now.Client == nil || len(v.tmuxSessions()) != 0 || len(w.tmuxSessions()) != 1 {
		t.Fatalf("client %+v; sessions %v and %v", now.Client, w.tmuxSessions(), v.tmuxSessions())
	}
	w.runWith(inside, nil, "stop", "--all").want(0)
	if got := w.own(own, "display-message", "-p", "-t", "mine", "#{pid} #{pane_pid}"); got != mine {
		t.Errorf("the person's own server: %q, was %q", got, mine)
	}
	if got := w.own(own, "list-sessions", "-F", "#{session_name}"); got != "mine\n" {
		t.Errorf("its sessions: %q", got)
	}
}

// Without tmux: new says so at once; terminals work.
func TestWithoutTmux(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bin := filepath.Join(filepath.Dir(w.home), "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + bin}
	began := time.Now()
	bare := w.runWith(env, nil, "new", "demo", "--", "hello")
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %v to say so", took)
	}
	bare.want(1).says("tmux is not installed")
	if n := strings.Count(bare.errOut, "berth:"); n != 1 {
		t.Errorf("%d errors:\n%s", n, bare.errOut)
	}
	if out := w.run("list", "--all", "--json").out; strings.TrimSpace(out) != "[]" {
		t.Errorf("recorded: %s", out)
	}

	cmd := w.command(context.Background(), env, "new", "demo", "--foreground", "--", "hello")
	x := startTTY(t, cmd)
	x.waitFor("You said: hello")
	if strings.Contains(x.all(), "tmux") {
		t.Errorf("something was written over the agent's screen:\n%s", x.screen())
	}
	id := w.onlySession().ID
	x.typeIn("\x1c")
	x.gets(0, "the agent runs on")
	x.gets(0, "tmux is not installed") // told when the terminal is the person's again
	x.wait()
	w.runWith(env, nil, "stop", id).want(0)
	y := w.openWith(env, "open", id)
	y.waitFor("You said: hello")
	y.typeIn("/exit\r")
	if code := y.wait(); code != 0 {
		t.Errorf("open: exit %d\n%s", code, y.screen())
	}
}

// The pane's host outlives clients: it joins the next supervisor, and the pane of a
// client that failed is given a new host.
func TestPaneJoinsTheNextClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newDemo("hello")
	first := w.tmuxHost(r.ID)
	for range soak(3, 20) {
		before := w.show(r.ID).Client.PID
		w.run("restart", r.ID).want(0)
		w.eventually("its screen", func() bool { return strings.Contains(w.run("capture", r.ID).want(0).out, "You said: hello") })
		now := w.tmuxHost(r.ID)
		if now.PID != first.PID || *now.Pane != *first.Pane || w.show(r.ID).Client.PID == before {
			t.Fatalf("host %+v, was %+v", now, first)
		}
	}
	kill(t, first.PID, syscall.SIGKILL)
	w.eventually("the dead host is off the record", func() bool { return len(w.show(r.ID).Hosts) == 0 })
	if out := w.run("capture", r.ID).want(0).out; !strings.Contains(out, "You said: hello") {
		t.Fatalf("in the adopted pane:\n%s", out)
	}
	if now := w.tmuxHost(r.ID); *now.Pane != *first.Pane || now.PID == first.PID {
		t.Fatalf("adopted: %+v, was %+v", now, first)
	}
}

// capture right after new shows the screen, every time.
func TestCaptureRightAfterNew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for round := range soak(5, 100) {
		r := w.newDemo(fmt.Sprint("words ", round))
		if out := w.run("capture", r.ID).want(0).out; !strings.Contains(out, fmt.Sprint("You said: words ", round)) {
			t.Fatalf("round %d:\n%s", round, out)
		}
		w.run("stop", r.ID).want(0)
	}
}

// A person in a pane that they split off opens another session there: it is a terminal
// like any other, with keyboard and detach key.
func TestOpenInASplitPane(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.newDemo("first"), w.newDemo("second")
	pane := *w.tmuxHost(a.ID).Pane
	w.tmuxHost(b.ID)
	split := w.tmuxSays("split-window", "-P", "-F", "#{pane_id}", "-t", pane, "/usr/bin/env", "BERTH_HOME="+w.home,
		"XDG_CONFIG_HOME="+filepath.Join(filepath.Dir(w.home), "config"), "/bin/sh", "-c", berthBin+" open "+b.ID+"; sleep 1000")
	w.eventually("held by the split pane", func() bool { return w.heldBy(b.ID) == "terminal" })
	w.tmuxSays("send-keys", "-t", split, "-l", "typed in the split pane")
	w.tmuxSays("send-keys", "-t", split, "Enter")
	w.eventually("the agent has it", func() bool { return strings.Contains(w.run("capture", b.ID).out, "You said: typed in the split pane") })
	w.tmuxSays("send-keys", "-t", split, `C-\`)
	w.eventually("left", func() bool { return w.heldBy(b.ID) == "" })
}
