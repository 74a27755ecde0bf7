//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"berth/internal/session"
)

// agentAt joins a demo session in a terminal, where lines can be typed to its agent.
func (w *world) agentAt(r session.Record) *tty {
	w.t.Helper()
	x := w.open("open", r.ID)
	x.waitFor("enter sends")
	return x
}

// A session that an agent starts is a session of its own, even where its `berth new`
// had to start the tmux server: it outlives the one it was started from, and nothing
// of it carries that one's marks.
func TestNewInsideOutlivesTheOuter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	outer := w.newDemo("outer")
	w.killed(w.tmuxServer())
	x := w.agentAt(outer)
	file := filepath.Join(w.cwd, "inner.json")
	x.typeIn("/run berth new demo --json -- inner >" + file + "\r")
	x.waitFor("[exit status 0]")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var inner session.Record
	if err := json.Unmarshal(b, &inner); err != nil {
		t.Fatal(err)
	}
	w.eventually("the inner session's pane is hosted", func() bool { return len(w.show(inner.ID).Hosts) == 1 })
	inner = w.show(inner.ID)
	ours := map[string]int{
		"agent": inner.Client.PID, "supervisor": inner.Supervisor.PID,
		"tmux server": w.tmuxServer(), "tmux host": inner.Hosts[0].PID,
	}

	e := w.stop(outer.ID)
	if len(e.Left)+len(e.Unverified) > 0 {
		t.Errorf("stop of the outer session: %+v", e)
	}
	for what, pid := range ours {
		if !alive(pid) {
			t.Errorf("the inner session's %s (pid %d) did not survive", what, pid)
			continue
		}
		env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if err != nil {
			t.Fatal(err)
		}
		for _, mark := range []string{outer.ID, outer.Run} {
			if strings.Contains(string(env), mark) {
				t.Errorf("the inner session's %s carries the outer's mark %s", what, mark)
			}
		}
	}
	if left := marked("BERTH_RUN_ID=" + outer.Run); len(left) > 0 {
		t.Errorf("of the outer session is left: %v", left)
	}
	y := w.agentAt(inner) // it works, and its screen is the same client's
	y.typeIn("still here\r")
	y.waitFor("You said: still here")
	if now := w.show(inner.ID); now.Client.PID != inner.Client.PID {
		t.Errorf("the inner client was %d and is %+v", inner.Client.PID, now.Client)
	}
}

// What an agent types about its own session is carried out though it ends the
// command that asked. With the command killed as soon as its request is on disk, and
// before it could ring, the request alone does it.
func TestOwnSession(t *testing.T) {
	t.Parallel()
	for _, how := range []struct{ name, arm string }{
		{"to the end", ""},
		{"killed after its request", "BERTHTEST_POINT=command.requested=kill "},
	} {
		for _, verb := range []string{"stop", "complete", "restart"} {
			t.Run(verb+" "+how.name, func(t *testing.T) {
				w := newWorld(t)
				r := w.newDemo("hello")
				x := w.agentAt(r)
				x.typeIn("/run " + how.arm + "berth " + verb + " $BERTH_SESSION_ID\r")
				if verb == "restart" {
					w.restartedItself(r, x)
					return
				}
				if code := x.wait(); code != 0 {
					t.Errorf("the terminal ended with %d\n%s", code, x.screen())
				}
				w.eventually("nothing of the run is left", func() bool { return len(marked("BERTH_RUN_ID="+r.Run)) == 0 })
				w.eventually("the supervisor has left", func() bool { return !alive(r.Supervisor.PID) })
				w.eventually("the tmux session is gone", func() bool { return len(w.tmuxSessions()) == 0 })
				after, want := w.show(r.ID), session.StateUnknown
				if verb == "complete" {
					want = session.StateClosed
				}
				if end := after.LastEnd; after.State != want || end == nil || end.AskedBy == nil || !strings.Contains(*end.AskedBy, "berth "+verb) {
					t.Errorf("state %s, last end %+v", after.State, after.LastEnd)
				}
			})
		}
	}
}

// restartedItself checks a restart from inside: the same supervisor has a new client
// of the same run, on the same conversation, and the terminal stays with it.
func (w *world) restartedItself(r session.Record, x *tty) {
	w.t.Helper()
	var now session.Record
	w.eventually("another client runs", func() bool {
		now = w.show(r.ID)
		return now.Client != nil && now.Client.PID != r.Client.PID && now.Resumable
	})
	if now.Run != r.Run || *now.NativeID != *r.NativeID || now.Supervisor.PID != r.Supervisor.PID {
		w.t.Errorf("before: run %s, native id %s, supervisor %d; after: %s, %s, %d",
			r.Run, *r.NativeID, r.Supervisor.PID, now.Run, *now.NativeID, now.Supervisor.PID)
	}
	w.oneAfterTheOther(r)
	x.waitFor("You said: hello")
	x.typeIn("after the restart\r")
	x.waitFor("You said: after the restart")
	if s := x.screen(); !strings.Contains(s, "hello") {
		w.t.Errorf("the restarted screen lacks the conversation:\n%s", s)
	}
	w.stop(r.ID)
}

// A stop that comes from outside in the middle of a restart from inside waits for it,
// and then has the last word.
func TestStopDuringRestartFromInside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gate := filepath.Join(w.cwd, "gate")
	r := w.runWith([]string{"BERTHTEST_POINT=supervisor.next-client=wait:" + gate}, nil, "new", "demo", "--json", "--", "hello").want(0).record()
	x := w.agentAt(r)
	x.typeIn("/run berth restart $BERTH_SESSION_ID\r")
	w.eventually("the supervisor is between two clients", func() bool { return exists(gate + ".here") })
	stop := w.start(nil, "stop", r.ID)
	w.eventually("stop waits for the launch lock", func() bool { return waitsForLock(t, stop.cmd.Process.Pid) })
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	stop.wait().want(0)
	if left := marked("BERTH_RUN_ID=" + r.Run); len(left) > 0 {
		t.Errorf("after stop: %v", left)
	}
	if after := w.show(r.ID); after.State != session.StateUnknown || after.LastEnd == nil || !strings.Contains(text(after.LastEnd.AskedBy), "berth stop") {
		t.Errorf("state %s, last end %+v", after.State, after.LastEnd)
	}
	w.oneAfterTheOther(r)
}

// Whoever runs inside a session cannot take it over from a supervisor that is gone:
// it would end itself and leave the rest. It is refused, and nothing is touched.
func TestTakeOverFromInside(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"stop", "restart", "complete"} {
		t.Run(verb, func(t *testing.T) {
			w := newWorld(t)
			w.config(fmt.Sprintf("[provider.survivor]\nstart = [\"sh\", \"-c\", %q]\nresume = [\"true\", \"{native_id}\"]\nnative_id = \"chosen\"\n",
				`: {native_id}; trap "" TERM HUP; while ! [ -e go ]; do sleep 0.02; done; berth `+verb+` $BERTH_SESSION_ID >said 2>&1; echo $? >status; sleep 1000`))
			r := w.run("new", "survivor", "--json").want(0).record()
			w.killed(r.Supervisor.PID)
			if err := os.WriteFile(filepath.Join(w.cwd, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			var status string
			w.eventually("the command inside has ended", func() bool {
				b, _ := os.ReadFile(filepath.Join(w.cwd, "status"))
				status = strings.TrimSpace(string(b))
				return status != ""
			})
			said, _ := os.ReadFile(filepath.Join(w.cwd, "said"))
			if status != "7" || !strings.Contains(string(said), "berth stop "+r.ID) {
				t.Errorf("exit %s: %s", status, said)
			}
			after := w.show(r.ID)
			if after.Client == nil || after.Client.PID != r.Client.PID || after.State != session.StateActive {
				t.Errorf("state %s, client %+v", after.State, after.Client)
			}
			w.stop(r.ID)
		})
	}
}

// One home is one home, whatever the environment it is used from: one tmux server,
// one socket directory.
func TestOneServerForEveryEnvironment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	// A configuration that lies about in a directory is nobody's.
	if err := os.WriteFile(filepath.Join(w.cwd, "config.toml"), []byte("this is not ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := "PATH=" + filepath.Dir(berthBin) + ":" + os.Getenv("PATH")
	first := w.newDemo("login shell")
	server := w.tmuxServer()
	for _, row := range []struct {
		name string
		env  []string
	}{
		{"cron", []string{path, "BERTH_HOME=" + w.home, suite, "GORACE=atexit_sleep_ms=0"}},
		{"su -", []string{path, "BERTH_HOME=" + w.home, suite, "GORACE=atexit_sleep_ms=0", "HOME=/root", "TERM=dumb", "TMPDIR=/var/tmp", "XDG_RUNTIME_DIR=/nowhere"}},
		{"another tmux", append(w.env, "TMUX=/tmp/tmux-0/default,1,0", "TMUX_PANE=%0", "TMUX_TMPDIR=/nowhere")},
	} {
		cmd := w.command(t.Context(), nil, "new", "demo", "--json", "--", row.name)
		cmd.Env = row.env
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", row.name, err, out)
		}
	}
	x := w.agentAt(first)
	x.typeIn("/run env -i " + path + " BERTH_HOME=$BERTH_HOME GORACE=atexit_sleep_ms=0 berth new demo -- scrubbed\r")
	x.waitFor("[exit status 0]")

	var list []session.Record
	w.run("list", "--json").want(0).decode(&list)
	if len(list) != 5 {
		t.Fatalf("%d sessions in the list", len(list))
	}
	for _, r := range list {
		if r.State != session.StateActive || r.Tmux == nil || r.Tmux.Socket != first.Tmux.Socket {
			t.Errorf("session %s: state %s, tmux %+v", r.Title, r.State, r.Tmux)
		}
	}
	w.eventually("five tmux sessions in one server", func() bool { return len(w.tmuxSessions()) == 5 })
	if now := w.tmuxServer(); now != server {
		t.Errorf("the tmux server was %d and is %d", server, now)
	}
	if servers := pids("BERTH_ROLE=tmux", filepath.Join(w.home, "sock", "tmux"), "start-server"); len(servers) != 1 {
		t.Errorf("tmux servers: %v", servers)
	}
}

// The socket directory is cleaned away under living sessions: the next command that
// needs them finds them again, with the same client and the same tmux server.
func TestSocketsCleanedAway(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		next func(w *world, r session.Record)
	}{
		{"open joins", func(w *world, r session.Record) {
			x := w.agentAt(r)
			x.typeIn("after\r")
			x.waitFor("You said: after")
		}},
		{"attach finds the screen", func(w *world, r session.Record) {
			w.eventually("the screen", func() bool { return strings.Contains(w.run("capture", r.ID).want(0).out, "You said: hello") })
		}},
		{"a new session", func(w *world, r session.Record) { w.newDemo("another") }},
		{"restart", func(w *world, r session.Record) { w.run("restart", r.ID).want(0) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.newDemo("hello")
			server := w.tmuxServer()
			if err := os.RemoveAll(filepath.Join(w.home, "sock")); err != nil {
				t.Fatal(err)
			}
			row.next(w, r)
			if now := w.tmuxServer(); now != server {
				t.Errorf("the tmux server was %d and is %d", server, now)
			}
			w.run("capture", r.ID).want(0)
			if !exists(filepath.Join(w.home, "sock", r.Run)) {
				t.Error("the session's socket is not there")
			}
			if now := w.show(r.ID); row.name != "restart" && (now.Client == nil || now.Client.PID != r.Client.PID) {
				t.Errorf("the client was %d and is %+v", r.Client.PID, now.Client)
			}
			w.stop(r.ID)
		})
	}
}
