//go:build linux

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"berth/internal/session"
)

// tmuxCalls puts a tmux in front of the real one that writes down every call, for all
// that this world starts from now on.
func (w *world) tmuxCalls() (calls func() string) {
	w.t.Helper()
	real, err := exec.LookPath("tmux")
	if err != nil {
		w.t.Fatal(err)
	}
	bin, log := filepath.Join(filepath.Dir(w.home), "counting"), filepath.Join(filepath.Dir(w.home), "tmux-calls")
	script := fmt.Sprintf("#!/bin/sh\nprintf '%%s\\n' \"$*\" >>%s\nexec %s \"$@\"\n", log, real)
	if err := os.MkdirAll(bin, 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "tmux"), []byte(script), 0o700); err != nil {
		w.t.Fatal(err)
	}
	for i, kv := range w.env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			w.env[i] = "PATH=" + bin + ":" + path
		}
	}
	return func() string {
		b, _ := os.ReadFile(log)
		return string(b)
	}
}

// attached attaches a client to the session's pane.
func (w *world) attached(r session.Record) *tty {
	w.t.Helper()
	cmd := exec.Command("sh", "-c", r.Tmux.Attach)
	cmd.Env = w.env
	return startTTY(w.t, cmd)
}

// Somebody comes to one pane of several and goes: only that pane's host asks tmux.
func TestOnlyTheLookedAtCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	calls := w.tmuxCalls()
	var rs []session.Record
	var panes []string
	for i := range 4 {
		rs = append(rs, w.newDemo(fmt.Sprint("session ", i)))
		panes = append(panes, *w.tmuxHost(rs[i].ID).Pane)
	}
	asks := func(i int) int { return strings.Count(calls(), "display-message -p -t "+panes[i]+" ") }
	w.eventually("every host has counted at its start", func() bool {
		for i := range rs {
			if asks(i) < 2 { // for its hello, and once it is on the record
				return false
			}
		}
		return true
	})
	before := []int{asks(0), asks(1), asks(2), asks(3)}
	x := w.attached(rs[2])
	w.eventually("held by whoever is attached", func() bool { return w.heldBy(rs[2].ID) == "tmux" })
	x.typeIn("\x02d")
	x.wait()
	w.eventually("nobody holds it", func() bool { return w.heldBy(rs[2].ID) == "" })
	for i := range rs {
		if n := asks(i) - before[i]; i != 2 && n != 0 || i == 2 && n == 0 {
			t.Errorf("session %d, when only 2 was looked at: its host asked tmux %d times", i, n)
		}
	}
	if n := strings.Count(calls(), "list-panes -a"); n == 0 {
		t.Error("no hook looked")
	}
}

// Clients come and go faster than anybody counts: in the end held_by is the truth.
func TestWatchersConverge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newDemo("hello")
	w.tmuxHost(r.ID)
	for range soak(5, 50) {
		for range 3 {
			x := w.attached(r)
			w.eventually("attached", func() bool { return w.tmuxSays("list-clients", "-F", "x") == "x" })
			kill(t, x.cmd.Process.Pid, syscall.SIGKILL)
			x.wait()
			w.eventually("gone", func() bool { return w.tmuxSays("list-clients", "-F", "x") == "" })
		}
		w.eventually("nobody holds it", func() bool { return w.heldBy(r.ID) == "" })
		x := w.attached(r)
		y := w.attached(r)
		w.eventually("both attached", func() bool { return w.tmuxSays("list-clients", "-F", "x") == "x\nx" })
		kill(t, y.cmd.Process.Pid, syscall.SIGKILL)
		y.wait()
		w.eventually("one holds it", func() bool {
			h := w.show(r.ID).Hosts
			return len(h) == 1 && h[0].Watchers == 1 && w.heldBy(r.ID) == "tmux"
		})
		x.hangUp()
		x.wait()
		w.eventually("nobody holds it again", func() bool { return w.heldBy(r.ID) == "" })
	}
}
