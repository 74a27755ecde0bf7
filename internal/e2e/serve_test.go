//go:build linux

package e2e

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"

	"berth/internal/session"
)

// serve-conversation from a script: a run that is launched is left as it is.
func TestServeIsIdempotent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newDemo("hello")
	for range 3 {
		again := w.run("serve-conversation", r.Run, "--json").want(0).record()
		if !again.Resumable || again.Client == nil || again.Client.PID != r.Client.PID || again.ID != r.ID {
			t.Fatalf("%+v", again)
		}
	}
}

// serve-conversation run first, from a unit with next to no environment and without
// a terminal, launches the run by itself; so does one after the agent has ended.
func TestServeLaunches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.runWith([]string{"BERTHTEST_POINT=command.published=kill"}, nil, "new", "demo", "--", "hello from the unit").want(-1)
	s := w.onlySession()
	if s.Phase != "starting" {
		t.Fatalf("%+v", s)
	}
	run := w.show(s.ID).Run
	serve := func() session.Record {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, berthBin, "serve-conversation", run, "--json")
		cmd.Dir, cmd.Env = "/", []string{"BERTH_HOME=" + w.home, "PATH=" + w.env[0][len("PATH="):]}
		var out, errOut bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errOut
		cmd.Run()
		return result{t, cmd.Args[1:], out.String(), errOut.String(), cmd.ProcessState.ExitCode()}.want(0).record()
	}
	r := serve()
	if r.ID != s.ID || !r.Resumable || r.Client == nil || r.Tmux == nil {
		t.Fatalf("%+v", r)
	}
	w.eventually("it said what was asked", func() bool {
		return strings.Contains(w.run("capture", r.ID).out, "You said: hello from the unit")
	})
	w.killed(r.Client.PID)
	w.eventually("its end is on record", func() bool { return w.show(r.ID).Client == nil })
	if again := serve(); *again.NativeID != *r.NativeID || again.Run != r.Run || again.Client.PID == r.Client.PID {
		t.Fatalf("%+v", again)
	}
}

// What serve-conversation does not launch, it says, with a status that a unit can
// act on.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newDemo("hello")
	w.run("restart", "--fresh", r.ID).want(0)
	now := w.show(r.ID)
	if now.Run == r.Run {
		t.Fatalf("not another run: %+v", now)
	}
	w.run("serve-conversation", r.Run).want(0).says("is a past run of session "+r.ID, now.Run)
	if after := w.show(r.ID); after.Client.PID != now.Client.PID {
		t.Fatalf("the past run was launched: %+v", after)
	}
	w.run("serve-conversation", "0000000000000000").want(3)
	w.run("complete", r.ID).want(0)
	w.run("serve-conversation", now.Run).want(4).says("was completed")
	w.run("serve-conversation", "--launched", now.Run).want(0).says("the agent has ended")
	w.nothingRuns()
}

// In a terminal it hosts at once and passes the agent's status on; a pane that is
// told that the run is launched starts nothing when the agent has ended since.
func TestServeInATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shell("echo up; read line; exit 3")
	r := w.run("new", "it", "--json").want(0).record()
	w.eventually("hosted by its pane", func() bool { return len(w.show(r.ID).Hosts) == 1 })
	x := w.open("serve-conversation", r.Run)
	x.waitFor("up")
	w.eventually("hosted here", func() bool { h := w.show(r.ID).HeldBy; return h != nil && *h == "terminal" })
	x.typeIn("\r")
	if code := x.wait(); code != 3 {
		t.Fatalf("exit %d\n%s", code, x.all())
	}
	w.eventually("its end is on record", func() bool { return w.show(r.ID).LastEnd != nil })
	y := w.open("serve-conversation", "--launched", r.Run)
	if code := y.wait(); code != 3 || !strings.Contains(y.all(), "the agent has ended") {
		t.Fatalf("exit %d\n%s", code, y.all())
	}
	if after := w.show(r.ID); after.Client != nil || after.LastEnd == nil {
		t.Fatalf("it was started again: %+v", after)
	}
}
