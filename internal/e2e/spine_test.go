//go:build linux

package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The life of a conversation, from an empty machine to attach, restart and back.
func TestSpine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newDemo("hello")
	if !r.Resumable || r.State != "active" || r.Client == nil || r.NativeID == nil {
		t.Fatalf("after new: %+v", r)
	}
	var list []struct{ ID, State string }
	w.run("list", "--json").want(0).decode(&list)
	if len(list) != 1 || list[0].ID != r.ID || list[0].State != "active" {
		t.Fatalf("list: %+v", list)
	}

	attach := exec.Command("sh", "-c", r.Tmux.Attach)
	attach.Env = w.env
	x := startTTY(t, attach)
	x.waitFor("You said: hello")
	x.hangUp()

	w.run("stop", r.ID).want(0)
	if left := marked("BERTH_RUN_ID=" + r.Run); len(left) > 0 {
		t.Fatalf("after stop: %v", left)
	}
	w.run("restart", r.ID, "--json").want(0)
	again := w.show(r.ID)
	if *again.NativeID != *r.NativeID || again.Client == nil || again.Client.PID == r.Client.PID || again.Run != r.Run {
		t.Fatalf("after restart: %+v", again)
	}
	w.eventually("hello in the restarted screen", func() bool {
		return strings.Contains(w.run("capture", r.ID).out, "hello")
	})
	w.run("complete", r.ID).want(0)
	if out := w.run("list", "--json").want(0).out; strings.TrimSpace(out) != "[]" {
		t.Fatalf("list after complete: %s", out)
	}
	w.run("list", "--all", "--json").want(0).decode(&list)
	if len(list) != 1 || list[0].State != "closed" {
		t.Fatalf("list --all: %+v", list)
	}
	if _, err := os.Stat(w.runDir(r)); err != nil {
		t.Fatal("evidence must stay:", err)
	}
}

// A terminal borrows the keyboard from a pane nobody looks at, leaves, and the
// keyboard goes back; a second terminal is refused while the first holds it.
func TestOpenBorrowsAndRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newDemo("first words")
	x := w.open("open", r.ID)
	x.waitFor("You said: first words")
	w.eventually("held by the terminal", func() bool { h := w.show(r.ID).HeldBy; return h != nil && *h == "terminal" })
	x.typeIn("typed here\r")
	x.waitFor("You said: typed here")

	y := w.open("open", r.ID)
	if code := y.wait(); code != 4 {
		t.Fatalf("second open: exit %d\n%s", code, y.screen())
	}
	if s := y.screen(); !strings.Contains(s, "is held by terminal") || !strings.Contains(s, "try:") {
		t.Fatalf("refusal: %s", s)
	}

	x.typeIn("\x1c")
	if code := x.wait(); code != 0 {
		t.Fatalf("detach: exit %d\n%s", code, x.screen())
	}
	if after := w.show(r.ID); after.HeldBy != nil || after.Client == nil || after.Client.PID != r.Client.PID {
		t.Fatalf("after detach: %+v", after)
	}
}
