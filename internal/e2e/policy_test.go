//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"berth/internal/session"
	"berth/manifest"
)

// super is what the supervisor of a session says of itself.
func (w *world) super(r session.Record) manifest.Supervisor {
	w.t.Helper()
	s, err := manifest.Dir(w.runDir(r)).Supervisor()
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// A client that is killed comes back by policy, in the same conversation and under
// the same supervisor; one that a person quit or stopped does not.
func TestPolicyBringsTheConversationBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.run("new", "demo", "--restart", "on-failure", "--json", "--", "come back").want(0).record()
	syscall.Kill(r.Client.PID, syscall.SIGKILL)
	w.eventually("another client", func() bool {
		now := w.show(r.ID)
		return now.Client != nil && now.Client.PID != r.Client.PID
	})
	again := w.show(r.ID)
	if again.Supervisor.PID != r.Supervisor.PID || *again.NativeID != *r.NativeID || again.Run != r.Run {
		t.Fatalf("%+v", again)
	}
	w.run("stop", r.ID).want(0)
	if now := w.show(r.ID); now.Client != nil || now.Supervisor != nil {
		t.Fatalf("after stop: %+v", now)
	}

	w.run("restart", r.ID).want(0)
	x := w.open("open", r.ID)
	x.waitFor("come back")
	x.typeIn("/exit\r")
	if code := x.wait(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	w.eventually("no client after a person's own exit", func() bool { return w.show(r.ID).Client == nil })
	if marked := marked("BERTH_RUN_ID=" + r.Run); len(marked) != 0 {
		t.Fatal(marked)
	}
}

// A client that fails at once, again and again, is held after five failures; stop
// during the back-off keeps it stopped, restart clears the counter.
func TestPolicyBacksOffAndAPersonIsQuicker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.run("new", "demo", "--restart", "always", "--json", "--", "hello").want(0).record()
	x := w.open("open", r.ID)
	x.waitFor("You said: hello")
	syscall.Kill(r.Client.PID, syscall.SIGKILL)
	x.waitFor("It starts again in ")
	w.eventually("it backs off", func() bool { return w.super(r).Phase == "backoff" })
	w.run("stop", r.ID).want(0)
	if s, now := w.super(r), w.show(r.ID); s.Phase != "ended" || now.State != session.StateUnknown {
		t.Fatalf("after a stop in the back-off: %+v, %s", s, now.State)
	}

	w.run("restart", r.ID).want(0)
	if s := w.super(r); s.Restarts.Count != 0 {
		t.Fatalf("restart keeps the failures: %+v", s.Restarts)
	}
	syscall.Kill(w.show(r.ID).Client.PID, syscall.SIGKILL)
	w.eventually("it backs off again", func() bool { return w.super(r).Phase == "backoff" })
	w.run("restart", r.ID).want(0)
	if now := w.show(r.ID); now.Client == nil || *now.NativeID != *r.NativeID {
		t.Fatalf("a restart in the back-off: %+v", now)
	}
}

// A client that fails again and again is held after five failures, counted across
// supervisors, and says so; a person's restart starts it, and the count, again.
func TestCrashLoopIsHeld(t *testing.T) {
	t.Parallel() // it waits out four back-offs
	w := newWorld(t)
	w.unguardedAgent()
	r := w.run("new", "unguarded", "--restart", "on-failure", "--json", "--", request).want(0).record()
	next := func(before int) (pid int) {
		w.eventually("the next client", func() bool {
			now := w.show(r.ID)
			if now.Client == nil || now.Client.PID == before {
				return false
			}
			pid = now.Client.PID
			return true
		})
		return pid
	}
	pid := r.Client.PID
	for range 2 {
		kill(t, pid, syscall.SIGKILL)
		w.eventually("it says when the next one comes", func() bool {
			now := w.show(r.ID)
			return now.Client == nil && now.Reason != nil && strings.Contains(*now.Reason, "the next is started at")
		})
		pid = next(pid)
	}
	w.run("stop", r.ID).want(0)
	pid = w.run("serve-conversation", r.ID, "--json").want(0).record().Client.PID
	if n := w.super(r).Restarts.Count; n != 2 {
		t.Fatalf("the next supervisor counts %d failures", n)
	}
	for range 2 {
		kill(t, pid, syscall.SIGKILL)
		pid = next(pid)
	}
	kill(t, pid, syscall.SIGKILL)
	w.eventually("it is held", func() bool { return w.super(r).Restarts.Held })
	w.eventually("its supervisor leaves", func() bool { return w.show(r.ID).Supervisor == nil })
	if why := w.show(r.ID).Reason; why == nil || !strings.Contains(*why, "failed 5 times") || !strings.Contains(*why, "berth restart") {
		t.Fatalf("reason %v", why)
	}
	w.run("restart", r.ID).want(0)
	if s := w.super(r); s.Restarts.Held || s.Restarts.Count != 0 {
		t.Fatalf("after a restart: %+v", s.Restarts)
	}
	w.goesOn(r.ID, w.marks(), false)
}

// A restart from inside during a back-off starts the next client at once. When the
// back-off would have been over, that client is left alone.
func TestRestartFromInsideDuringBackOff(t *testing.T) {
	t.Parallel() // it waits out a back-off
	w := newWorld(t)
	w.unguardedAgent()
	r := w.newUnguarded(nil, "--restart", "always")
	kill(t, r.Client.PID, syscall.SIGKILL)
	var over time.Time
	w.eventually("it backs off", func() bool {
		s := w.super(r)
		if s.Phase == manifest.PhaseBackoff && s.Restarts.NextAt != nil {
			over = *s.Restarts.NextAt
		}
		return !over.IsZero()
	})
	w.runWith([]string{"BERTH_RUN_ID=" + r.Run}, nil, "restart", r.ID) // which may end it with the rest
	w.eventually("another client", func() bool { return w.show(r.ID).Client != nil })
	w.eventually("the back-off would be over", func() bool { return time.Now().After(over) })
	w.goesOn(r.ID, w.marks(), false)
	if end := w.show(r.ID).LastEnd; w.starts() != 2 || end.AskedBy == nil || !strings.Contains(*end.AskedBy, "berth stop") {
		t.Errorf("%d clients were started, the last one's end: %+v", w.starts(), end)
	}
}

// A next client that cannot be started leaves nothing half done: whoever comes then is
// told why at once, and starts it when it can be.
func TestNextClientCannotStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	program := filepath.Join(filepath.Dir(w.home), "agent")
	must(t, os.Symlink("/bin/sh", program))
	w.config(fmt.Sprintf("[provider.it]\nstart = [%q, \"-c\", \"sleep 1000\", \"{native_id}\"]\nresume = [%[1]q, \"-c\", \"sleep 1000\", \"{native_id}\"]\nnative_id = \"chosen\"\nready = \"start\"\n", program))
	r := w.run("new", "it", "--restart", "always", "--json").want(0).record()
	must(t, os.Remove(program))
	w.killed(r.Client.PID)
	w.eventually("the supervisor has given up", func() bool { return w.super(r).Phase == manifest.PhaseEnded })
	if now := w.show(r.ID); now.Phase != session.Ended {
		t.Errorf("%+v", now)
	}
	if s := w.reconcile()[r.ID]; len(s.Did) > 0 {
		t.Errorf("left for reconcile: %+v", s)
	}
	w.run("restart", r.ID).want(1).says(program)
	must(t, os.Symlink("/bin/sh", program))
	w.run("restart", r.ID).want(0)
	if now := w.show(r.ID); now.Client == nil {
		t.Errorf("with its program back: %+v", now)
	}
}

// A start that fails for a reason that is known to pass is tried again, as it was, and
// not for ever; the opening request is sent once.
func TestStartFailsForNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		failures string
		code     int
	}{{"1", 0}, {"9", 1}} {
		w := newWorld(t)
		// A codex that fails so many times as the file says, and is a shell then.
		program := filepath.Join(filepath.Dir(w.home), "codex")
		must(t, os.WriteFile(program, []byte(`#!/bin/sh
n=$(cat "$0.left")
[ "$n" = 0 ] || { echo $((n - 1)) >"$0.left"; echo "Error: timed out discarding buffered terminal input"; exit 1; }
printf '\033]7501;state=idle:app=codex\007'
mkdir -p "$HOME/.codex/thread-writer-locks"
exec 9>"$HOME/.codex/thread-writer-locks/11111111-1111-4111-8111-111111111111.lock"
while read -r line; do
	mkdir -p "$HOME/.codex/sessions/2026/12/01"
	echo '{"thread_source": "user"}' "$line" >>"$HOME/.codex/sessions/2026/12/01/rollout-x-11111111-1111-4111-8111-111111111111.jsonl"
	printf '\033]7501;state=working:app=codex\007'
done
`), 0o700))
		must(t, os.WriteFile(program+".left", []byte(c.failures+"\n"), 0o600))
		w.env = append(w.env, "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
		r := w.run("new", "codex", "--json", "--", "hello").want(c.code).record()
		if c.code != 0 {
			if left, _ := os.ReadFile(program + ".left"); strings.TrimSpace(string(left)) != "6" {
				t.Errorf("tried until %s are left of 9, want 6", left)
			}
			continue
		}
		history, err := os.ReadFile(filepath.Dir(w.home) + "/.codex/sessions/2026/12/01/rollout-x-11111111-1111-4111-8111-111111111111.jsonl")
		if err != nil || strings.Count(string(history), "hello") != 1 || r.NativeID == nil {
			t.Errorf("%v: %s\n%+v", err, history, r)
		}
	}
}
