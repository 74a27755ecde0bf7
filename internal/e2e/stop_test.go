//go:build linux

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"berth/clients"
	"berth/internal/control"
	"berth/internal/session"
	"berth/manifest"
)

// Whatever an agent starts is gone when stop returns 0, and the count is told.
func TestStopEndsTheWholeTree(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, flags string }{
		{"an agent that listens", ""},
		{"an agent that ignores HUP and TERM", "--ignore-term"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.runWith([]string{"DEMO_AGENT_FLAGS=" + row.flags}, nil, "new", "demo", "--json", "--", "hello").want(0).record()
			x := w.open("open", r.ID)
			x.waitFor("You said: hello")
			x.typeIn("/children\r")
			x.waitFor("double-forked child: pid")
			// One without any mark, that left its session and its parent.
			x.typeIn("/run env -i setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo unmarked: pid $!\r")
			x.waitFor("[exit status 0]")
			tree := append(pidsOn(x.screen()), r.Client.PID)
			if len(tree) != 6 {
				t.Fatalf("the tree is %v\n%s", tree, x.screen())
			}

			e := w.stop(r.ID)
			for _, pid := range tree {
				if alive(pid) {
					t.Errorf("pid %d is alive after stop", pid)
				}
			}
			if e.Ended != len(tree) || len(e.Left) != 0 || len(e.Unverified) != 0 || e.Already {
				t.Errorf("stop said %+v, and there were %d processes", e, len(tree))
			}
			if code := x.wait(); code != 0 {
				t.Errorf("the terminal that watched ended with %d\n%s", code, x.screen())
			}
			end := w.show(r.ID).LastEnd
			if end == nil || end.AskedBy == nil || !strings.Contains(*end.AskedBy, "berth stop") || end.Outcome != "completed" {
				t.Errorf("last end: %+v", end)
			}
		})
	}
}

var pidText = regexp.MustCompile(`pid (\d+)`)

// pidsOn are the pids that a screen tells, each once.
func pidsOn(screen string) (pids []int) {
	for _, m := range pidText.FindAllStringSubmatch(screen, -1) {
		if pid, err := strconv.Atoi(m[1]); err == nil && !slices.Contains(pids, pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// stop stops one session and returns what was told.
func (w *world) stop(id string) control.Ended {
	w.t.Helper()
	var es []control.Ended
	w.run("stop", "--json", id).want(0).decode(&es)
	if len(es) != 1 {
		w.t.Fatalf("stop told of %d sessions", len(es))
	}
	return es[0]
}

// Agents whose tree is not ended by ending the agent.
func TestStopInsists(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, script string
		atLeast      int
	}{
		{"only the leader dies on TERM",
			`(trap "" TERM HUP; while :; do sleep 1000; done) & exec sleep 1000`, 3},
		{"the tree forks while it is being ended",
			`trap "" TERM HUP; while :; do (sleep 1000)& (setsid sleep 1000)& sleep 0.02; done`, 4},
		{"the leader is stopped",
			`sleep 1000 & kill -STOP $$; wait`, 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.config(fmt.Sprintf("[provider.odd]\nstart = [\"sh\", \"-c\", %q]\n", row.script))
			r := w.run("new", "odd", "--json").want(0).record()
			mark := "BERTH_RUN_ID=" + r.Run
			w.eventually("the tree stands", func() bool { return len(marked(mark)) >= row.atLeast })
			e := w.stop(r.ID)
			if left := marked(mark); len(left) > 0 {
				t.Fatalf("after stop: %v", left)
			}
			if e.Ended < row.atLeast {
				t.Fatalf("stop told of %d processes, and there were at least %d", e.Ended, row.atLeast)
			}
		})
	}
}

// Nothing to stop is success, and says so, however it came to be gone.
func TestStopOfSomethingGone(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		end  func(w *world, r session.Record)
	}{
		{"stopped before", func(w *world, r session.Record) { w.stop(r.ID) }},
		{"the person quit", func(w *world, r session.Record) {
			x := w.open("open", r.ID)
			x.waitFor("You said: hello")
			x.typeIn("/exit\r")
			x.wait()
		}},
		{"killed with its supervisor", func(w *world, r session.Record) {
			w.killed(r.Supervisor.PID)
			w.killed(r.Client.PID)
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.newDemo("hello")
			row.end(w, r)
			if e := w.stop(r.ID); !e.Already || e.Ended != 0 {
				t.Errorf("stop: %+v", e)
			}
			if out := w.run("stop", r.ID).want(0).out; !strings.Contains(out, "already stopped") {
				t.Errorf("stop says %q", out)
			}
		})
	}
}

// An agent in the middle of a tool call is asked politely first: it ends by itself,
// its history is whole, and the tool is gone.
func TestStopInTheMiddleOfATool(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newDemo("hello")
	x := w.open("open", r.ID)
	x.waitFor("You said: hello")
	x.typeIn("/run sh -c 'trap \"\" TERM; echo tool: pid $$; while :; do sleep 1000; done'\r")
	x.waitFor("tool: pid ")
	w.eventually("the tool's pid is shown", func() bool { return len(pidsOn(x.screen())) == 1 })
	tool := pidsOn(x.screen())[0]
	w.stop(r.ID)
	if alive(tool) {
		t.Errorf("the tool (pid %d) is alive", tool)
	}
	end := w.show(r.ID).LastEnd
	if end == nil || end.ExitCode == nil || *end.ExitCode != 128+int(syscall.SIGTERM) {
		t.Errorf("the agent did not end by itself: %+v", end)
	}
	n, err := manifest.Dir(w.runDir(r)).Native()
	if err != nil || n.HistoryPath == "" {
		t.Fatalf("native: %+v, %v", n, err)
	}
	history, err := os.ReadFile(n.HistoryPath)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(string(history), "\n") {
		t.Errorf("the history's last line is torn: %q", history)
	}
	for line := range strings.Lines(string(history)) {
		if !json.Valid([]byte(line)) {
			t.Errorf("history line %q", line)
		}
	}
}

// What cannot be killed is told by pid, and goes on being ours: what ends it later
// is not taken for what was asked.
func TestStopThatFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newDemo("hello")
	thaw := freeze(t, r.Client.PID)
	w.run("stop", r.ID).want(1).says("cannot end all of session "+r.ID, strconv.Itoa(r.Client.PID))
	if still := w.show(r.ID); still.Client == nil || still.Client.PID != r.Client.PID || still.Supervisor == nil {
		t.Fatalf("after a stop that failed: %+v", still)
	}
	thaw()
	w.eventually("the client ends", func() bool { return w.show(r.ID).LastEnd != nil })
	after := w.show(r.ID)
	if after.LastEnd.AskedBy != nil || after.LastEnd.Reason != "ended by SIGKILL" {
		t.Errorf("the end that came later: %+v", after.LastEnd)
	}
	w.run("restart", r.ID).want(0)
}

// freeze makes a process deaf even to SIGKILL, until thaw or the test's end.
func freeze(t *testing.T, pid int) (thaw func()) {
	t.Helper()
	group := filepath.Join("/sys/fs/cgroup/freezer", fmt.Sprintf("berth-e2e-%d-%d", os.Getpid(), pid))
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skipf("no version 1 freezer to make a process that cannot be killed: %v", err)
	}
	set := func(file, value string) {
		if err := os.WriteFile(filepath.Join(group, file), []byte(value), 0); err != nil {
			t.Fatal(err)
		}
	}
	thawed := false
	thaw = func() {
		if !thawed {
			thawed = true
			set("freezer.state", "THAWED")
		}
	}
	t.Cleanup(func() {
		thaw()
		within(patience, func() bool { return os.Remove(group) == nil }) // busy until the process is reaped
	})
	set("cgroup.procs", strconv.Itoa(pid))
	set("freezer.state", "FROZEN")
	return thaw
}

// A clean exit takes the tmux session away; a failure keeps it with the last screen,
// and the next client has the same pane.
func TestPaneAfterTheEnd(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, typed string
		kept        bool
	}{
		{"clean exit", "/exit", false},
		{"failure", "/fail 3", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.newDemo("hello")
			w.eventually("the pane's host has joined", func() bool { s := w.show(r.ID); return s.Tmux != nil && s.Tmux.Pane != "" })
			pane := w.show(r.ID).Tmux.Pane
			x := w.open("open", r.ID)
			x.waitFor("You said: hello")
			x.typeIn(row.typed + "\r")
			x.wait()
			if !row.kept {
				w.eventually("the tmux session is gone", func() bool { return w.tmux(r, "has-session", "-t", "="+r.Tmux.Session).Run() != nil })
				return
			}
			var dead, screen string
			if !within(patience, func() bool {
				out, _ := w.tmux(r, "display-message", "-p", "-t", pane, "#{pane_dead}").CombinedOutput()
				dead, screen = strings.TrimSpace(string(out)), w.run("capture", r.ID).out
				return dead == "1" && strings.Contains(screen, "failing with 3, as asked")
			}) {
				t.Fatalf("the pane is dead: %s; its last screen:\n%s", dead, screen)
			}
			w.run("restart", r.ID).want(0)
			w.eventually("the next client is in the same pane", func() bool {
				s := w.show(r.ID)
				return s.Tmux != nil && s.Tmux.Pane == pane && strings.Contains(w.run("capture", r.ID).out, "You said: hello")
			})
		})
	}
}

// A client that ends while its pane takes on a terminal's size leaves its last words
// in the pane.
func TestLastWordsOfAResizedPane(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newDemo("hello")
	w.tmuxHost(r.ID)
	w.freeze(w.tmuxServer()) // so that the pane does not take it on in time
	x := w.open("open", r.ID)
	x.waitFor("You said: hello")
	x.typeIn("/fail 3\r")
	x.wait()
	kill(t, w.tmuxServer(), syscall.SIGCONT)
	w.eventually("the pane has the last screen", func() bool {
		return strings.Contains(w.run("capture", r.ID).out, "failing with 3, as asked")
	})
	x = w.open("attach", "--move", r.ID)
	x.waitFor("berth open " + r.ID)
	if code := x.wait(); code != 4 || !strings.Contains(x.all(), "has ended") {
		t.Errorf("attach --move: exit %d\n%s", code, x.all())
	}
}

// tmux is a command to the session's tmux server.
func (w *world) tmux(r session.Record, args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", append([]string{"-u", "-N", "-S", r.Tmux.Socket}, args...)...)
	cmd.Env = w.env
	return cmd
}

// oneAfterTheOther fails the test unless the evidence says that each client of the
// run was started after the end of the one before.
func (w *world) oneAfterTheOther(r session.Record) {
	w.t.Helper()
	cs, err := clients.Read(w.runDir(r))
	if err != nil {
		w.t.Fatal(err)
	}
	for i, c := range cs {
		switch {
		case c.Err != nil:
			w.t.Error(c.Err)
		case i+1 < len(cs) && c.End == nil:
			w.t.Errorf("client %d of %d has no recorded end", i+1, len(cs))
		case i+1 < len(cs) && cs[i+1].Receipt.StartedAt.Before(c.End.EndedAt):
			w.t.Errorf("client %d was started before the end of the one before it", i+2)
		}
	}
}

// Whatever of the run's small files is damaged or gone, stop ends the agent and says
// what it found.
func TestStopGetsThrough(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		damage func(dir string) error
		says   string
	}{
		{"the last word", func(dir string) error { return os.WriteFile(dir+"/wanted.json", []byte("{"), 0o600) }, ""},
		{"the native id", func(dir string) error { return os.WriteFile(dir+"/native.json", nil, 0o600) }, "native.json"},
		{"the supervisor's record", func(dir string) error { return os.WriteFile(dir+"/supervisor.json", []byte("{}"), 0o600) }, "supervisor.json"},
		{"requests", func(dir string) error { return os.RemoveAll(dir + "/requests") }, "/requests"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.newDemo("hello")
			must(t, row.damage(w.runDir(r)))
			w.run("stop", r.ID).want(0).says(row.says)
			if left := marked("BERTH_RUN_ID=" + r.Run); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			if cs, err := clients.Read(w.runDir(r)); err != nil || len(cs) != 1 || cs[0].End == nil || cs[0].End.Outcome != clients.Completed {
				t.Errorf("on record: %+v, %v", cs, err)
			}
		})
	}
}

// Stop, restart and open released together, over and over: the last request wins,
// state and processes agree, and there are never two clients.
func TestLastWordWins(t *testing.T) {
	t.Parallel()
	rounds := soak(20, 200)
	w := newWorld(t)
	w.unguardedAgent()
	r := w.run("new", "unguarded", "--json", "--", "hello").want(0).record()
	dir := manifest.Dir(w.runDir(r))
	rng := rand.New(rand.NewPCG(42, 0))
	for round := range rounds {
		verbs := []string{"stop", "restart", "open"}
		rng.Shuffle(len(verbs), func(i, j int) { verbs[i], verbs[j] = verbs[j], verbs[i] })
		verbs = append(verbs, []string{"stop", "restart"}[rng.IntN(2)])
		var terminals []*tty
		var commands []*background
		for _, verb := range verbs {
			if verb == "open" {
				terminals = append(terminals, w.open("open", r.ID))
				continue
			}
			commands = append(commands, w.start(nil, verb, r.ID))
		}
		for _, c := range commands {
			c.wait()
		}
		for _, x := range terminals {
			x.hangUp()
			x.wait()
		}
		want, err := dir.Wanted()
		if err != nil {
			t.Fatal(err)
		}
		after, left := w.show(r.ID), marked("BERTH_RUN_ID="+r.Run)
		ok := want.Want == manifest.WantRun && after.Client != nil && after.State == session.StateActive && len(left) == 1 ||
			want.Want == manifest.WantStopped && after.Client == nil && after.State == session.StateUnknown && len(left) == 0
		if !ok || *after.NativeID != *r.NativeID || after.Run != r.Run {
			t.Fatalf("round %d %v: %q is wanted by %s; state %s (%v), client %+v, last end %+v, processes %v",
				round, verbs, want.Want, want.By, after.State, text(after.Reason), after.Client, after.LastEnd, left)
		}
	}
	w.neverTwo("hello")
	w.oneAfterTheOther(r)
}

// A terminal that closes while its open starts the client leaves the client running.
func TestHangUpDuringALaunch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newDemo("hello")
	w.run("stop", r.ID).want(0)
	b := w.barrier("release")
	x := w.openWith([]string{b.arm("command.claimed")}, "open", r.ID)
	b.reached()
	x.hangUp()
	b.open()
	x.wait()
	if now := w.show(r.ID); now.Client == nil || now.State != session.StateActive {
		t.Fatalf("state %s, client %+v", now.State, now.Client)
	}
}

// soak is how often a round is run: full when BERTH_SOAK=1.
func soak(short, full int) int {
	if os.Getenv("BERTH_SOAK") == "1" {
		return full
	}
	return short
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// newCleared starts an agent behind a wrapper: the agent proper has no environment, so
// no mark, and ends by SIGKILL only.
func (w *world) newCleared(wrapper string) session.Record {
	w.t.Helper()
	agent := `trap "" HUP INT TERM; while :; do sleep 0.1; done`
	w.config(fmt.Sprintf("[provider.cleared]\nstart = [\"sh\", \"-c\", %q, \"{native_id}\"]\nresume = [\"sh\", \"-c\", %[1]q, \"{native_id}\"]\nnative_id = \"chosen\"\n",
		fmt.Sprintf(wrapper, `env -i PATH=$PATH sh -c '`+agent+`' `+w.home)))
	r := w.run("new", "cleared", "--json").want(0).record()
	w.eventually("the agent runs", func() bool { return len(w.clearedAgents()) == 1 })
	return r
}

// clearedAgents are the pids of those agents.
func (w *world) clearedAgents() (found []string) {
	procs, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range procs {
		argv, _ := os.ReadFile(p + "/cmdline") // none: it has ended
		env, err := os.ReadFile(p + "/environ")
		if err == nil && bytes.HasSuffix(argv, []byte("\x00"+w.home+"\x00")) && bytes.HasPrefix(argv, []byte("sh\x00-c\x00trap")) && !bytes.Contains(env, []byte("BERTH_")) {
			found = append(found, filepath.Base(p))
		}
	}
	return found
}

// A client's wrapper is killed, and the agent below it, which has cleared its
// environment, lives on: no second one is started beside it, and stop ends it.
func TestSurvivorWithoutMarks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newCleared("%s; :")
	kill(t, r.Client.PID, syscall.SIGKILL)
	w.eventually("the end is on record", func() bool { return w.show(r.ID).LastEnd != nil })
	w.run("serve-conversation", r.ID, "--json").want(4).says("processes of it still run")
	if n := len(w.clearedAgents()); n != 1 {
		t.Fatalf("%d agents", n)
	}
	w.run("restart", r.ID).want(0)
	w.eventually("one agent", func() bool { return len(w.clearedAgents()) == 1 })
	kill(t, w.show(r.ID).Client.PID, syscall.SIGKILL)
	w.eventually("the end is on record", func() bool { return w.show(r.ID).Client == nil })
	w.run("stop", r.ID).want(0)
	w.eventually("nothing is left", func() bool { return len(w.clearedAgents()) == 0 })
}

// The supervisor is killed, and the client's wrapper with it: the agent below, which
// nothing but its POSIX session shows to be of the run, keeps a second one from being
// started, also when reconcile has recorded the end meanwhile, and stop ends it.
func TestSurvivorOfALostClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	lose := func(r session.Record) {
		kill(t, r.Supervisor.PID, syscall.SIGKILL)
		kill(t, r.Client.PID, syscall.SIGKILL)
		w.eventually("the client is gone", func() bool { return !alive(r.Client.PID) })
		w.run("serve-conversation", r.ID, "--json").want(4).says("processes of it still run")
	}
	r := w.newCleared("%s; :")
	lose(r)
	w.run("restart", r.ID).want(0)
	w.eventually("one agent", func() bool { return len(w.clearedAgents()) == 1 })
	lose(w.show(r.ID))
	w.run("reconcile").want(0)
	if end := w.show(r.ID).LastEnd; end == nil || len(end.Survivors) == 0 {
		t.Errorf("end on record: %+v", end)
	}
	w.run("serve-conversation", r.ID, "--json").want(4).says("processes of it still run")
	w.run("stop", r.ID).want(0)
	w.eventually("nothing is left", func() bool { return len(w.clearedAgents()) == 0 })
	w.oneAfterTheOther(r)
}

// A supervisor that is frozen is taken over: the orphans it had taken in, which nothing
// else shows to be of the run, are ended too.
func TestTakeOverEndsOrphans(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newCleared("(setsid %s &); exec sleep 1000")
	w.freeze(r.Supervisor.PID)
	w.run("stop", r.ID).want(0).says("taking over")
	w.eventually("nothing is left", func() bool { return len(w.clearedAgents()) == 0 })
}
