//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// barrier is a file whose making releases what waits at an armed point.
type barrier struct {
	w    *world
	path string
}

func (w *world) barrier(name string) barrier {
	return barrier{w, filepath.Join(filepath.Dir(w.home), name)}
}

// arm is the variable that holds a process at point.
func (b barrier) arm(point string) string { return "BERTHTEST_POINT=" + point + "=wait:" + b.path }

// reached waits until a process is held.
func (b barrier) reached() {
	b.w.t.Helper()
	b.w.eventually("a process reaches the barrier", func() bool { return exists(b.path + ".here") })
}

func (b barrier) open() {
	b.w.t.Helper()
	if err := os.WriteFile(b.path, nil, 0o600); err != nil {
		b.w.t.Fatal(err)
	}
}

// starts is how many agents were ever started in this world.
func (w *world) starts() int { return len(agentLog(w.agentLogPath(), "start")) }

// Many commands start one session right after its client exited: one of them does,
// and the others find the same client.
func TestOneStartOfMany(t *testing.T) {
	t.Parallel()
	const many = 8
	w := newWorld(t)
	w.unguardedAgent()
	r := w.newUnguarded(nil)
	for i := range soak(2, 20) {
		before := w.starts()
		pid := w.show(r.ID).Client.PID
		kill(t, pid, syscall.SIGKILL)
		w.eventually("the end is on record", func() bool { return w.show(r.ID).Client == nil })
		var opens []*tty
		var serves []*background
		for range many / 2 {
			opens = append(opens, w.open("open", r.ID))
			serves = append(serves, w.start(nil, "serve-conversation", r.Run, "--json"))
		}
		clients := map[int]bool{}
		for _, s := range serves {
			clients[s.wait().want(0).record().Client.PID] = true
		}
		joined := 0
		for _, x := range opens { // one gets the keyboard; the others are told who has it
			w.eventually("every open has joined or was refused", func() bool {
				return strings.Contains(x.screen(), "unguarded>") || strings.Contains(x.all(), "is held by terminal")
			})
			if !strings.Contains(x.all(), "is held by terminal") {
				joined++
				defer x.hangUp()
			}
		}
		if len(clients) != 1 || w.starts() != before+1 || joined != 1 {
			t.Fatalf("round %d: clients %v, %d starts, %d joined", i, clients, w.starts()-before, joined)
		}
		for _, x := range opens {
			x.hangUp()
			x.wait()
		}
	}
	w.run("stop", r.ID).want(0)
	w.neverTwo(request)
}

// A session that has no native id yet is started again at once: the guard is the run,
// not the provider's id.
func TestStartedTwiceWithoutAnID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config(fmt.Sprintf("[provider.mute]\nstart = %s\nresume = [\"/bin/false\", \"{native_id}\"]\nnative_id = \"announced\"\nready = \"start\"\n",
		tomlArray(roleArgv("unguarded", w.agentLogPath()))))
	b := w.barrier("release")
	first := w.start([]string{b.arm("supervisor.gate-spawned")}, "new", "mute", "--ready-timeout", "2s", "--", request)
	b.reached()
	id := w.onlySession().ID
	second := w.start(nil, "serve-conversation", id, "--json", "--ready-timeout", "2s")
	w.eventually("the second start waits", func() bool { return waitsForLock(t, second.cmd.Process.Pid) })
	b.open()
	first.wait().want(5)
	second.wait().want(5)
	if n := w.starts(); n != 1 {
		t.Fatalf("%d agents started", n)
	}
	w.eventually("the request is heard", func() bool { return w.heard(request) == 1 })
	w.run("stop", id).want(0)

	// It never announced an id: the next start is another run, and the request has
	// been sent, whatever was killed meanwhile.
	crash := w.barrier("crash")
	again := w.start([]string{crash.arm("command.published")}, "restart", id)
	crash.reached()
	w.killed(again.cmd.Process.Pid)
	w.run("restart", id, "--ready-timeout", "1s").want(5).says("is not sent again")
	w.run("stop", id).want(0)
	if n := w.starts(); n != 2 {
		t.Fatalf("%d agents started", n)
	}
	w.neverTwo(request)
}

// A launch is stopped (SIGSTOP) for longer than anybody waits: its lock is not
// stolen, the others are told who has it, and when it wakes nothing is doubled.
func TestHolderStopped(t *testing.T) {
	t.Parallel() // it waits out the whole bound of a lock
	w := newWorld(t)
	w.unguardedAgent()
	first := w.start([]string{"BERTHTEST_POINT=command.row=stop"}, "new", "unguarded", "--json", "--", request)
	pid := first.cmd.Process.Pid
	w.eventually("the launch is stopped", func() bool { return stopped(pid) })
	id := w.onlySession().ID
	var others []*background
	for _, args := range [][]string{{"restart", id}, {"stop", id}, {"complete", id}, {"serve-conversation", id, "--json"}} {
		others = append(others, w.start(nil, args...))
	}
	for _, o := range others {
		o.wait().want(4).says(fmt.Sprintf("is being changed by berth new (pid %d, since", pid), "berth show "+id)
	}
	if r := w.show(id); r.Phase != "starting" || w.starts() != 0 {
		t.Fatalf("%+v, %d starts", r, w.starts())
	}
	kill(t, pid, syscall.SIGCONT)
	if r := first.wait().want(0).record(); r.ID != id || !r.Resumable {
		t.Fatalf("%+v", r)
	}
	w.goesOn(id, w.marks(), false)
	if w.starts() != 1 {
		t.Fatalf("%d starts", w.starts())
	}
}

// stopped reports whether the process is stopped by a signal.
func stopped(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.HasPrefix(string(b[strings.LastIndexByte(string(b), ')')+1:]), " T")
}

// A launch that took too long was given up, and its command said so. What comes late
// starts nothing.
func TestLateSupervisorStartsNothing(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"launcher.supervisor-started", "supervisor.claimed", "supervisor.gate-spawned", "supervisor.receipt"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel() // each waits out the deadline of a launch
			w := newWorld(t)
			w.unguardedAgent()
			b := w.barrier("release")
			first := w.start([]string{b.arm(point)}, "new", "unguarded", "--json", "--", request)
			b.reached()
			id := w.onlySession().ID
			if point == "launcher.supervisor-started" { // it is the launcher who is late
				w.killed(first.cmd.Process.Pid)
			} else {
				first.wait().want(1).says("did not report")
			}
			b.open()
			w.eventually("the late one leaves", func() bool { return len(pids(w.marks(), "berth supervise")) == 0 })
			if w.starts() != 0 {
				t.Fatalf("%d agents started", w.starts())
			}
			w.run("restart", id).want(0)
			w.goesOn(id, w.marks(), false)
		})
	}
}

// A supervisor that is stopped (SIGSTOP) in its launch is ended before anybody takes
// over; woken, it could do nothing. One that has not written down who it is, is named
// and left to the person.
func TestStoppedSupervisorIsTakenOver(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		point    string
		recorded bool
	}{
		{"supervisor.claimed", false},
		{"supervisor.gate-spawned", false},
		{"supervisor.receipt", true},
		{"supervisor.may-open", true},
		{"supervisor.opened", true},
	} {
		t.Run(c.point, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.unguardedAgent()
			first := w.start([]string{"BERTHTEST_POINT=" + c.point + "=stop"}, "new", "unguarded", "--json", "--", request)
			super := w.theSupervisor()
			w.eventually("it is stopped", func() bool { return stopped(super) })
			id := w.onlySession().ID
			first.wait().want(1)
			if !c.recorded {
				w.run("restart", id).want(7).says(fmt.Sprintf("held by supervisor (pid %d", super), fmt.Sprintf("kill -KILL %d", super))
				if !stopped(super) || w.starts() != 0 {
					t.Fatalf("it was touched: stopped %t, %d starts", stopped(super), w.starts())
				}
				w.killed(super)
			}
			w.run("restart", id).want(0)
			if alive(super) {
				t.Fatal("the stopped supervisor lives")
			}
			w.goesOn(id, w.marks(), false)
		})
	}
}

// The next client of a restart fails to start: the session says so, stays resumable,
// and the old client is not reported alive.
func TestNextClientFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	self := filepath.Join(w.cwd, "agent")
	script := func(body string) {
		if err := os.WriteFile(self, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	good := "exec " + strings.Join(roleArgv("unguarded", w.agentLogPath()), " ") + ` "$@"`
	script(good)
	w.config(fmt.Sprintf("[provider.it]\nstart = [%q, \"{native_id}\"]\nresume = [%[1]q, \"{native_id}\"]\nnative_id = \"chosen\"\nready = \"output:unguarded> \"\n", self))
	r := w.run("new", "it", "--json", "--", request).want(0).record()
	w.eventually("the request is heard", func() bool { return w.heard(request) == 1 })

	// The conversation is known, so a client that lives is all it needs: whether the
	// restart still sees this one end is a race, what is known afterwards is not.
	ends := func(how string) {
		t.Helper()
		if res := w.run("restart", r.ID); res.code != 0 {
			res.want(1).says(how)
		}
		w.eventually("its end is on record: "+how, func() bool {
			now := w.show(r.ID)
			return now.Client == nil && now.LastEnd != nil && strings.Contains(now.LastEnd.Reason, how)
		})
		if now := w.show(r.ID); alive(r.Client.PID) || *now.NativeID != *r.NativeID {
			t.Fatalf("after the failure: %+v", now)
		}
	}
	script("exit 7")
	ends("exited with status 7")
	if err := os.WriteFile(self, []byte("#!/no/such/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ends("no such file or directory")
	script(good)
	w.run("restart", r.ID).want(0)
	if now := w.show(r.ID); *now.NativeID != *r.NativeID || now.Run != r.Run {
		t.Fatalf("another conversation: %+v", now)
	}
	w.goesOn(r.ID, w.marks(), false)
}

// An open right after a stop, over and over: each waits, bounded, and finds the
// session free.
func TestOpenAfterStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.unguardedAgent()
	r := w.newUnguarded(nil)
	for range soak(3, 50) {
		stop := w.start(nil, "stop", r.ID)
		x := w.open("open", r.ID) // races with the stop: it joins before, or starts after
		stop.wait().want(0)
		w.eventually("open has joined or ended", func() bool { return x.ended() || strings.Contains(x.screen(), "unguarded>") })
		if x.ended() && x.wait() != 0 {
			t.Fatalf("open: exit %d\n%s", x.wait(), x.all())
		}
		x.hangUp()
		x.wait()
	}
	w.run("restart", r.ID).want(0)
	w.goesOn(r.ID, w.marks(), false)
}

// A lock holder is killed: the next one has the lock, and nobody unlinks the file.
func TestLockOfTheKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.unguardedAgent()
	b := w.barrier("release")
	first := w.start([]string{b.arm("command.row")}, "new", "unguarded", "--json", "--", request)
	b.reached()
	id := w.onlySession().ID
	locks, _ := filepath.Glob(filepath.Join(w.home, "locks", "*.launch"))
	if len(locks) != 1 {
		t.Fatalf("locks: %v", locks)
	}
	inode := func() uint64 {
		var st syscall.Stat_t
		if err := syscall.Stat(locks[0], &st); err != nil {
			t.Fatal(err)
		}
		return st.Ino
	}
	before := inode()
	next := w.start(nil, "restart", id)
	w.eventually("the next one waits", func() bool { return waitsForLock(t, next.cmd.Process.Pid) })
	w.killed(first.cmd.Process.Pid)
	next.wait().want(0)
	if inode() != before {
		t.Fatal("the lock file is another one now")
	}
	w.goesOn(id, w.marks(), false)
}

// Many launches at once: all are resumable, none twice.
func TestManyLaunchesAtOnce(t *testing.T) { // not beside others: it is about who gets time
	many := soak(20, 200)
	w := newWorld(t)
	w.unguardedAgent()
	var all []*background
	for i := range many {
		all = append(all, w.start(nil, "new", "unguarded", "--json", "--ready-timeout", "2m", "--", fmt.Sprint(request, " ", i)))
	}
	seen := map[string]bool{}
	for _, b := range all {
		r := b.wait().want(0).record()
		if !r.Resumable || seen[r.ID] || seen[*r.NativeID] {
			t.Fatalf("%+v", r)
		}
		seen[r.ID], seen[*r.NativeID] = true, true
	}
	w.eventually("each has heard its own request", func() bool { return len(agentLog(w.agentLogPath(), "said")) == many })
	for i := range many {
		if n := w.heard(fmt.Sprint(request, " ", i)); n != 1 {
			t.Errorf("request %d was heard %d times", i, n)
		}
	}
	if n := w.starts(); n != many {
		t.Errorf("%d agents started for %d sessions", n, many)
	}
	w.run("stop", "--all").want(0)
	w.nothingRuns()
}

// Reconcile leaves a launch alone while it is under way, and settles one whose
// launcher was killed.
func TestReconcileAndALaunch(t *testing.T) {
	t.Parallel()
	t.Run("under way: left alone", func(t *testing.T) {
		for _, point := range []string{"command.row", "command.claimed", "supervisor.gate-spawned"} {
			w := newWorld(t)
			w.unguardedAgent()
			b := w.barrier("release")
			first := w.start([]string{b.arm(point)}, "new", "unguarded", "--json", "--", request)
			b.reached()
			w.run("reconcile").want(0)
			b.open()
			r := first.wait().want(0).record()
			w.goesOn(r.ID, w.marks(), false)
			if w.starts() != 1 || !r.Resumable {
				t.Fatalf("%s: %d starts, %+v", point, w.starts(), r)
			}
		}
	})
	t.Run("its launcher was killed: settled at the deadline", func(t *testing.T) {
		w := newWorld(t)
		w.unguardedAgent()
		w.runWith([]string{"BERTHTEST_POINT=command.claimed=kill"}, nil, "new", "unguarded", "--", request).want(-1)
		dir := w.runDir(w.show(w.onlySession().ID))
		if !exists(filepath.Join(dir, "launching")) {
			t.Fatal("no launch is under way")
		}
		w.eventually("it is settled", func() bool {
			w.run("reconcile").want(0)
			return !exists(filepath.Join(dir, "launching"))
		})
		if w.starts() != 0 || !exists(filepath.Join(dir, "expired")) {
			t.Fatalf("%d starts; expired: %t", w.starts(), exists(filepath.Join(dir, "expired")))
		}
		id := w.onlySession().ID
		w.run("restart", id).want(0)
		w.goesOn(id, w.marks(), false)
	})
}
