//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/manifest"
)

// The supervisor dies while the opening request is being sent: it is never sent
// again, and that is said.
func TestRequestIsNotSentTwice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		provider string
	}{
		{"the conversation is resumed", "unguarded"},
		{"nothing was recorded: the same conversation begins again", "demo"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.unguardedAgent()
			b := w.barrier("release")
			first := w.start([]string{b.arm("supervisor.prompt-marked")}, "new", c.provider, "--ready-timeout", "1s", "--", request)
			b.reached()
			r := w.show(w.onlySession().ID)
			w.killed(r.Supervisor.PID)
			first.wait()
			w.run("restart", r.ID).want(0).says("is not sent again")
			again := w.show(r.ID)
			if again.Run != r.Run || *again.NativeID != *r.NativeID || again.Client == nil {
				t.Fatalf("after: %+v", again)
			}
			events, err := os.ReadFile(filepath.Join(w.runDir(r), "events.jsonl"))
			if err != nil || !strings.Contains(string(events), `"opening request not sent again"`) {
				t.Errorf("the session does not say so: %v\n%s", err, events)
			}
			w.run("restart", r.ID).want(0) // nor by the one after
			if c.provider == "demo" {
				w.eventually("the chat is up", func() bool { return w.show(r.ID).Turn != nil && w.show(r.ID).Turn.State == "idle" })
				if s := w.run("capture", r.ID).out; strings.Contains(s, request) {
					t.Errorf("sent again:\n%s", s)
				}
			} else if w.heard(request) > 0 {
				t.Error("sent again")
			}
		})
	}
}

// A request that goes by an argument goes once, too, and is typed to a client that
// is resumed before it ever went.
func TestRequestInAnArgument(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		point       string
		asked, told int // how often in an argument, how often typed
	}{
		{"supervisor.claimed", 1, 0},
		{"supervisor.receipt", 0, 1},
		{"supervisor.may-open", 0, 0}, // the gate was about to open: perhaps it went
	} {
		t.Run(c.point, func(t *testing.T) {
			w := newWorld(t)
			w.unguardedAgent()
			path := filepath.Join(filepath.Dir(w.home), "config", "berth", "config.toml")
			conf, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			w.config(strings.Replace(string(conf), `"new", "{native_id}"`, `"new", "{native_id}", "asked={prompt}"`, 1))
			r := w.runWith([]string{"BERTHTEST_POINT=" + c.point + "=kill"}, nil, "new", "unguarded", "--", request).want(1)
			id := w.onlySession().ID
			w.run("restart", id).want(0)
			w.eventually("the request arrives as often as it may", func() bool { return w.heard(request) == c.told && w.asked() == c.asked })
			w.run("restart", id).want(0)
			w.run("stop", id).want(0)
			if w.heard(request) != c.told || w.asked() != c.asked {
				t.Errorf("typed %d times, in an argument %d times\n%s", w.heard(request), w.asked(), r.errOut)
			}
			w.neverTwo(request)
		})
	}
}

// asked is how many agents got the request in an argument.
func (w *world) asked() (n int) {
	for _, f := range agentLog(w.agentLogPath(), "start") {
		if strings.Contains(strings.Join(f, " "), "asked="+request) {
			n++
		}
	}
	return n
}

// A requester dies after writing its request, which nobody carries out. The next
// client of the run is not the one it is meant for.
func TestStaleRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.unguardedAgent()
	r := w.newUnguarded(nil)
	w.freeze(r.Supervisor.PID)
	w.eventually("the supervisor is stopped", func() bool { return stopped(r.Supervisor.PID) })
	w.runWith([]string{"BERTHTEST_POINT=command.requested=kill"}, nil, "stop", r.ID).want(-1)
	w.killed(r.Supervisor.PID)
	w.run("restart", r.ID).want(0)
	again := w.show(r.ID)
	dir := manifest.Dir(w.runDir(r))
	w.eventually("the stale request is refused", func() bool {
		done, ok, err := dir.Answered(1)
		return err == nil && ok && !done.OK && strings.Contains(done.Message, "is meant for client")
	})
	if !alive(again.Client.PID) {
		t.Fatal("it ended the next client")
	}
	w.goesOn(r.ID, w.marks(), false)
}
