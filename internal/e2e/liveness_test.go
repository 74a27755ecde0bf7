//go:build linux

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"berth/clients"
	"berth/internal/session"
	"berth/manifest"
)

// lost ends a session's client and supervisor as a power cut does.
func (w *world) lost(r session.Record) {
	w.t.Helper()
	w.killed(r.Supervisor.PID)
	w.killed(r.Client.PID)
}

// backAgain restarts a session and checks that it is the same conversation.
func (w *world) backAgain(r session.Record, env ...string) session.Record {
	w.t.Helper()
	w.runWith(env, nil, "restart", r.ID).want(0)
	now := w.runWith(env, nil, "show", r.ID, "--json").want(0).record()
	if now.State != session.StateActive || now.Run != r.Run || *now.NativeID != *r.NativeID {
		w.t.Fatalf("after restart: state %s, run %s, native id %v; before: %s, %s", now.State, now.Run, now.NativeID, r.Run, *r.NativeID)
	}
	return now
}

// A receipt whose pid means another process by now is that of a dead client. The
// stranger is never signalled, and the conversation comes back.
func TestReceiptOfAStranger(t *testing.T) {
	w := newWorld(t)
	r := w.newDemo("hello")
	w.lost(r)
	stranger := exec.Command("sleep", "1000")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer stranger.Wait()
	defer stranger.Process.Kill()
	// The client's receipt, as if the kernel had given its number to the stranger.
	old := filepath.Join(w.runDir(r), "clients", fmt.Sprintf("%d-%d.json", r.Client.PID, r.Client.Start))
	b, err := os.ReadFile(old)
	if err != nil {
		t.Fatal(err)
	}
	var receipt clients.Receipt
	if err := json.Unmarshal(b, &receipt); err != nil {
		t.Fatal(err)
	}
	receipt.Process.PID = stranger.Process.Pid
	if err := clients.WriteReceipt(w.runDir(r), receipt); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(old); err != nil {
		t.Fatal(err)
	}

	if now := w.show(r.ID); now.State != session.StateInterrupted || now.Client != nil {
		t.Errorf("state %s, client %+v", now.State, now.Client)
	}
	if e := w.stop(r.ID); !e.Already {
		t.Errorf("stop: %+v", e)
	}
	w.backAgain(r)
	if !alive(stranger.Process.Pid) {
		t.Error("the stranger was ended")
	}
}

// A client that has ended and was not reaped, since its supervisor is frozen, is
// dead; the frozen supervisor is ended before the next client starts.
func TestZombie(t *testing.T) {
	w := newWorld(t)
	r := w.newDemo("hello")
	w.freeze(r.Supervisor.PID)
	kill(t, r.Client.PID, syscall.SIGKILL)
	w.eventually("the client is a zombie", func() bool {
		return !alive(r.Client.PID) && exists("/proc/"+strconv.Itoa(r.Client.PID))
	})
	if now := w.show(r.ID); now.State != session.StateInterrupted || now.Client != nil || now.Phase != session.Ended {
		t.Errorf("state %s, phase %s, client %+v", now.State, now.Phase, now.Client)
	}
	w.backAgain(r)
	if alive(r.Supervisor.PID) {
		t.Error("the frozen supervisor lives beside the new one")
	}
}

// After a reboot everything that ran is interrupted, and each session comes back to
// its own conversation.
func TestAnotherBoot(t *testing.T) {
	w := newWorld(t)
	before := []string{"BERTHTEST_VALUE=boot-id=the-boot-before"}
	var rs []session.Record
	for _, words := range []string{"one", "two"} {
		rs = append(rs, w.runWith(before, nil, "new", "demo", "--json", "--", words).want(0).record())
	}
	// Even a process that has kept its number and start time is not the same one.
	for _, r := range rs {
		now := w.show(r.ID)
		if !alive(r.Client.PID) || now.Client != nil || now.State != session.StateInterrupted {
			t.Fatalf("state %s, client %+v (pid %d)", now.State, now.Client, r.Client.PID)
		}
	}
	for _, r := range rs {
		w.lost(r)
	}
	w.killed(w.tmuxServer())
	var list []session.Record
	w.run("list", "--json").want(0).decode(&list)
	for _, r := range list {
		if r.State != session.StateInterrupted {
			t.Errorf("session %s: state %s", r.Title, r.State)
		}
	}
	for i, words := range []string{"one", "two"} {
		w.backAgain(rs[i])
		w.eventually("its own words on its screen", func() bool {
			return strings.Contains(w.run("capture", rs[i].ID).out, "You said: "+words)
		})
	}
}

// The terminal's processes say nothing about the agent: dead is dead.
func TestAgentDeadHostAlive(t *testing.T) {
	w := newWorld(t)
	r := w.newDemo("hello")
	w.eventually("the pane's host has joined", func() bool { return len(w.show(r.ID).Hosts) == 1 })
	host := w.theHost()
	w.freeze(r.Supervisor.PID)
	kill(t, r.Client.PID, syscall.SIGKILL)
	w.eventually("the agent has ended", func() bool { return !alive(r.Client.PID) })
	if now := w.show(r.ID); now.Client != nil || now.Resumable || len(now.Hosts) != 0 || now.State != session.StateInterrupted {
		t.Errorf("with its host alive: state %s, client %+v, hosts %+v", now.State, now.Client, now.Hosts)
	}
	if !alive(host) || len(w.tmuxSessions()) != 1 {
		t.Error("the host or its tmux session are gone, so nothing was shown")
	}
	kill(t, r.Supervisor.PID, syscall.SIGCONT)
}

// Evidence that cannot be read makes one row unavailable, and says why; whoever asks
// about it is told 7; the other rows are there, and not a byte is changed.
func TestUnreadableEvidence(t *testing.T) {
	w := newWorld(t)
	good, r := w.newDemo("good"), w.newDemo("bad")
	receipt := fmt.Sprintf("clients/%d-%d.json", r.Client.PID, r.Client.Start)
	broken := map[string]string{
		"not JSON": `{"schema_version": 1, "pid"`, "empty": "", "a newer schema": `{"schema_version": 99}`,
	}
	for _, file := range []string{"manifest.json", receipt, "native.json", "supervisor.json"} {
		for how, text := range broken {
			t.Run(file[:strings.IndexAny(file, "./")]+" is "+how, func(t *testing.T) {
				w.t = t
				path := filepath.Join(w.runDir(r), file)
				whole, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				defer os.WriteFile(path, whole, 0o600)
				w.unavailable(good, r, path)
				if now, err := os.ReadFile(path); err != nil || string(now) != text {
					t.Errorf("it was %q and is %q, %v", text, now, err)
				}
			})
		}
	}
	t.Run("a run directory that may not be read", func(t *testing.T) {
		w := newNobodysWorld(t)
		good, r := w.newDemo("good"), w.newDemo("bad")
		dir := filepath.Join(w.runDir(r), "clients")
		if err := os.Chmod(dir, 0); err != nil {
			t.Fatal(err)
		}
		w.unavailable(good, r, dir)
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	})
	w.t = t
	if now := w.show(r.ID); now.Client == nil || now.Client.PID != r.Client.PID || !now.Resumable {
		t.Errorf("with its evidence mended: %+v", now)
	}
}

// unavailable checks how berth takes it that path, of r's evidence, is unreadable.
func (w *world) unavailable(good, r session.Record, path string) {
	w.t.Helper()
	var list []session.Record
	w.run("list", "--json").want(0).decode(&list)
	if len(list) != 2 {
		w.t.Fatalf("%d rows", len(list))
	}
	for _, row := range list {
		for _, a := range row.Actions {
			switch {
			case row.ID == good.ID && (a.Unavailable != nil || row.State != session.StateActive):
				w.t.Errorf("the other session: state %s, %s: %s", row.State, a.Kind, text(a.Unavailable))
			case row.ID == r.ID && !strings.Contains(text(a.Unavailable), path):
				w.t.Errorf("%s: %s", a.Kind, text(a.Unavailable))
			}
		}
	}
	w.run("show", r.ID).want(7).says(path)
	w.run("restart", r.ID).want(7).says(path)
	if !alive(r.Client.PID) || !alive(r.Supervisor.PID) {
		w.t.Error("something was ended")
	}
}

// newNobodysWorld is a world whose commands are an unprivileged user's: to root,
// nothing is unreadable.
func newNobodysWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	dir := filepath.Dir(w.home)
	b, err := os.ReadFile(berthBin)
	if err != nil {
		t.Fatal(err)
	}
	w.bin, w.uid = filepath.Join(dir, "berth"), 65534
	if err := os.WriteFile(w.bin, b, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("chown", "-R", fmt.Sprint(w.uid), dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return w
}

// Another pid namespace, with the same home: whether a client lives there cannot be
// told, so nothing is started and nothing is signalled.
func TestAnotherContainer(t *testing.T) {
	w := newWorld(t)
	r := w.newDemo("hello")
	w.eventually("the pane's host has joined", func() bool { return len(w.show(r.ID).Hosts) == 1 })
	everything := marked(w.marks())
	inside := func(args ...string) (string, int) {
		cmd := exec.Command("unshare", append([]string{"-p", "-f", "--mount-proc", berthBin}, args...)...)
		cmd.Dir, cmd.Env = w.cwd, w.env
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	for _, args := range [][]string{
		{"show", r.ID}, {"stop", r.ID}, {"restart", r.ID}, {"complete", r.ID}, {"serve-conversation", r.Run}, {"capture", r.ID},
	} {
		if out, code := inside(args...); code != 7 || !strings.Contains(out, "pid namespace") {
			t.Errorf("berth %v in a container: exit %d\n%s", args, code, out)
		}
	}
	out, code := inside("list", "--json")
	var list []session.Record
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 || len(list) != 1 || list[0].Phase != session.PhaseUnknown {
		t.Errorf("list in a container: exit %d, %v\n%s", code, err, out)
	}
	if now := marked(w.marks()); strings.Join(now, "\n") != strings.Join(everything, "\n") {
		t.Errorf("before:\n%s\nafter:\n%s", strings.Join(everything, "\n"), strings.Join(now, "\n"))
	}
	if now := w.show(r.ID); now.Client == nil || now.Client.PID != r.Client.PID || now.State != session.StateActive {
		t.Errorf("state %s, client %+v", now.State, now.Client)
	}
}

// A client that outlives its supervisor is live, and can only be replaced or stopped.
func TestTerminalGone(t *testing.T) {
	for _, row := range []struct {
		name string
		next func(w *world, r session.Record)
	}{
		{"stop", func(w *world, r session.Record) {
			if e := w.stop(r.ID); e.Ended != 1 {
				w.t.Errorf("stop: %+v", e)
			}
			if now := w.show(r.ID); now.State != session.StateUnknown {
				w.t.Errorf("state %s, last end %+v", now.State, now.LastEnd)
			}
		}},
		{"restart", func(w *world, r session.Record) {
			w.run("restart", r.ID).want(0)
			if now := w.show(r.ID); now.Client == nil || now.Client.PID == r.Client.PID || *now.NativeID != *r.NativeID || now.Supervisor == nil {
				w.t.Errorf("after restart: %+v", now)
			}
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.unguardedAgent()
			r := w.run("new", "unguarded", "--json", "--", "hello").want(0).record()
			w.killed(r.Supervisor.PID)
			now := w.show(r.ID)
			if now.State != session.StateActive || now.Client == nil || now.Client.PID != r.Client.PID || now.Supervisor != nil {
				t.Fatalf("state %s, client %+v, supervisor %+v", now.State, now.Client, now.Supervisor)
			}
			if why := text(now.Actions[0].Unavailable); !strings.Contains(why, "its terminal is gone") {
				t.Errorf("%s: %s", now.Actions[0].Kind, why)
			}
			x := w.open("open", r.ID)
			if code := x.wait(); code != 4 || !strings.Contains(flat(x.screen()), "berth open --replace "+r.ID) {
				t.Errorf("open: exit %d\n%s", code, x.screen())
			}
			w.run("serve-conversation", r.Run).want(4)
			row.next(w, r)
			if alive(r.Client.PID) {
				t.Error("the old client lives")
			}
			w.neverTwo("hello")
		})
	}
}

// flat is a screen as one line: a terminal breaks lines anywhere.
func flat(screen string) string { return strings.ReplaceAll(screen, "\n", "") }

// A silent supervisor that is taken over is ended before anything else, so that it
// restarts and writes nothing when it wakes.
func TestSilentSupervisor(t *testing.T) {
	for _, verb := range []string{"stop", "restart"} {
		t.Run(verb, func(t *testing.T) {
			w := newWorld(t)
			w.unguardedAgent()
			r := w.run("new", "unguarded", "--json", "--restart", "always", "--", "hello").want(0).record()
			w.freeze(r.Supervisor.PID)
			// Between the supervisor's end and the tree's, the supervisor must be gone.
			gate := filepath.Join(w.cwd, "gate")
			c := w.start([]string{"BERTHTEST_POINT=command.taking-over=wait:" + gate}, verb, r.ID)
			w.eventually("the take-over goes on to the tree", func() bool { return exists(gate + ".here") })
			if alive(r.Supervisor.PID) || !alive(r.Client.PID) {
				t.Errorf("supervisor alive: %v, client alive: %v", alive(r.Supervisor.PID), alive(r.Client.PID))
			}
			kill(t, r.Supervisor.PID, syscall.SIGCONT) // wake it, were it there
			if err := os.WriteFile(gate, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			c.wait().want(0).says("does not answer; taking over")
			now := w.show(r.ID)
			if alive(r.Client.PID) || verb == "stop" != (now.Client == nil) || verb == "stop" && now.State != session.StateUnknown {
				t.Errorf("state %s, client %+v", now.State, now.Client)
			}
			w.neverTwo("hello")
			w.oneAfterTheOther(r)
		})
	}
}

// The run directory is removed under a living session. The agent goes on, the loss is
// told, nothing of the directory is made again, and there is a way out.
func TestRunDirectoryRemoved(t *testing.T) {
	w := newWorld(t)
	other, r := w.newDemo("other"), w.newDemo("hello")
	x := w.agentAt(r)
	if err := os.RemoveAll(w.runDir(r)); err != nil {
		t.Fatal(err)
	}
	x.typeIn("still there\r")
	x.waitFor("You said: still there")
	w.run("show", r.ID).want(7).says(w.runDir(r))
	w.run("stop", r.ID).want(7).says("is gone", "kill -TERM "+strconv.Itoa(r.Supervisor.PID))
	w.run("restart", r.ID).want(7)
	var list []session.Record
	w.run("list", "--json").want(0).decode(&list)
	for _, row := range list {
		if why := text(row.Actions[0].Unavailable); (row.ID == r.ID) != strings.Contains(why, w.runDir(r)) {
			t.Errorf("session %s: %s", row.Title, why)
		}
	}
	if now := w.show(other.ID); now.State != session.StateActive {
		t.Errorf("the other session is %s", now.State)
	}
	if !alive(r.Client.PID) || !alive(r.Supervisor.PID) {
		t.Error("the agent or its supervisor was ended")
	}
	if exists(w.runDir(r)) {
		t.Error("something was made again in the run directory's place")
	}
	// What the refusal said to type ends it, whole.
	kill(t, r.Supervisor.PID, syscall.SIGTERM)
	w.eventually("supervisor and agent have ended", func() bool { return !alive(r.Supervisor.PID) && !alive(r.Client.PID) })
	if exists(w.runDir(r)) {
		t.Error("something was made again at the end")
	}
	if e := w.stop(r.ID); !e.Already {
		t.Errorf("stop: %+v", e)
	}
	w.run("restart", "--fresh", r.ID).want(0)
	if now := w.show(r.ID); now.State != session.StateActive || now.Run == r.Run {
		t.Errorf("after a fresh start: state %s, run %s", now.State, now.Run)
	}
}

// A client whose run directory and supervisor are both gone is found by its mark.
func TestStopByMarkAlone(t *testing.T) {
	w := newWorld(t)
	w.unguardedAgent()
	r := w.run("new", "unguarded", "--json", "--", "hello").want(0).record()
	w.killed(r.Supervisor.PID)
	if err := os.RemoveAll(w.runDir(r)); err != nil {
		t.Fatal(err)
	}
	if e := w.stop(r.ID); e.Ended != 1 || alive(r.Client.PID) {
		t.Errorf("stop: %+v; alive: %v", e, alive(r.Client.PID))
	}
}

// events are the lines of a run's events.jsonl.
func (w *world) events(r session.Record) (es []manifest.Event) {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.runDir(r), "events.jsonl"))
	if err != nil {
		w.t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		var e manifest.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			w.t.Fatalf("event %q: %v", line, err)
		}
		es = append(es, e)
	}
	return es
}

// freeze stops a process and waits until all of it stands still: a signal to stop
// takes its threads one after the other.
func (w *world) freeze(pid int) {
	w.t.Helper()
	kill(w.t, pid, syscall.SIGSTOP)
	w.eventually("the process stands still", func() bool {
		tasks, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/stat")
		if err != nil || len(tasks) == 0 {
			w.t.Fatalf("process %d has no threads: %v", pid, err)
		}
		for _, t := range tasks {
			b, err := os.ReadFile(t)
			if err == nil && !strings.HasPrefix(string(b[bytes.LastIndexByte(b, ')')+1:]), " T") {
				return false
			}
		}
		return true
	})
}
