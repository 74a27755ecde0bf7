//go:build linux

package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"berth/internal/session"

	"golang.org/x/sys/unix"
)

// What berth says and does when one kind of write finds the disk full: each op label
// of a file operation, in the life of a session. Whatever it is, nobody is told a
// success that is not one, the error names the file, other sessions go on, and with
// room again the session is resumed or started, once.
func TestEachWriteThatFails(t *testing.T) {
	t.Parallel()
	type row struct {
		op string
		// What `new` does: its exit status, and what it says; "" is not looked at.
		code int
		says string
		// What `stop` then does under the same fault.
		stop     int
		stopSays string
		log      bool // the supervisor's log names it, too, or alone
	}
	for _, c := range []row{
		{"run-parent", 1, "/runs/", 0, "", false},
		{"manifest", 1, "manifest.json", 0, "", false},
		{"publish", 1, "/runs/", 0, "", false},
		{"wanted", 1, "wanted.json", 0, "wanted.json", false},
		{"prepare", 1, "prepared", 0, "", false},
		{"advance-launching", 1, "launching", 0, "", false},
		{"advance-supervised", 1, "supervised", 0, "", true},
		{"native", 1, "native.json", 0, "", true},
		{"supervisor", 1, "supervisor.json", 0, "", true},
		{"receipt", 1, "/clients/", 0, "", true},
		{"finish-launch", 0, "", 0, "", true},
		{"prompt-sent", 5, "could not be sent", 0, "", true},
		{"event", 0, "", 0, "", true},
		{"request", 0, "", 0, "/requests/1.json", false},
		{"answer", 0, "", 0, "", true},
		{"end", 0, "", 1, "has ended, and that could not be written down", true},
		{"tmux-conf", 0, "tmux.conf", 0, "", false},
		{"tmux-record", 0, "tmux.json", 0, "", false},
	} {
		t.Run(c.op, func(t *testing.T) {
			w := newWorld(t)
			other := w.newDemo("the other one")
			if strings.HasPrefix(c.op, "tmux-") { // written once: as if it had not been
				w.forgetTmux(t, c.op)
			}
			fault := []string{"BERTHTEST_FAIL=" + c.op + "=ENOSPC"}

			made := w.runWith(fault, nil, "new", "demo", "--ready-timeout", "3s", "--", "mine").want(c.code)
			if !strings.Contains(made.errOut, c.says) || c.code == 1 && !strings.Contains(made.errOut, "no space left on device") {
				t.Errorf("new said %s", made.errOut)
			}
			mine := w.theOther(other)
			if c.code == 0 && mine.Client == nil {
				t.Fatalf("told a success: %+v", mine)
			}
			if c.code == 1 && mine.Client != nil {
				t.Errorf("told a failure, and it runs: %+v", mine)
			}
			logged := func() bool {
				data, _ := os.ReadFile(filepath.Join(w.runDir(mine), "supervisor.log"))
				return strings.Contains(string(data), "("+c.op+")") || strings.Contains(string(data), c.op+" (injected)")
			}
			stopped := w.runWith(fault, nil, "stop", mine.ID).want(c.stop)
			if !strings.Contains(stopped.errOut, c.stopSays) {
				t.Errorf("stop said %s", stopped.errOut)
			}
			if c.log {
				w.eventually("the supervisor's log names it", logged)
			}
			if c.stop == 0 || c.op == "end" {
				if left := marked("BERTH_RUN_ID=" + mine.Run); len(left) > 0 {
					t.Errorf("stopped, and left: %v", left)
				}
			}
			if c.stop == 0 {
				if now := w.show(mine.ID); now.State == session.StateActive || now.State == session.StateInterrupted {
					t.Errorf("after stop: %s", now.State)
				}
			}
			if now := w.show(other.ID); now.Client == nil || now.Client.PID != other.Client.PID || !now.Resumable {
				t.Errorf("the other session: %+v", now)
			}

			w.run("restart", mine.ID).want(0)
			now := w.show(mine.ID)
			if now.Client == nil || !alive(now.Client.PID) {
				t.Fatalf("with room again: %+v", now)
			}
			w.eventually("the request, once", func() bool { return strings.Contains(w.run("capture", mine.ID).out, "You said: mine") })
			if n := strings.Count(w.run("capture", mine.ID).out, "You said: mine"); n != 1 {
				t.Errorf("the request was sent %d times", n)
			}
		})
	}
}

// theOther is the session that is not this one.
func (w *world) theOther(than session.Record) session.Record {
	w.t.Helper()
	var list []session.Record
	w.run("list", "--all", "--json").want(0).decode(&list)
	list = slices.DeleteFunc(list, func(r session.Record) bool { return r.ID == than.ID })
	if len(list) != 1 {
		w.t.Fatalf("%d other sessions", len(list))
	}
	return list[0]
}

// A disk that is really full, in each step of a session's life: nothing that was is
// lost, the running agent runs on, what cannot be done says why, and with room again
// all of it can be done.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	room := w.smallHome("1m")
	w.env = append(w.env, "DEMO_AGENT_HOME="+filepath.Join(filepath.Dir(w.home), "demo"))
	r := w.newDemo("hello")
	idle := w.newDemo("idle")
	w.run("stop", idle.ID).want(0)
	before := w.files()

	free := room()
	for _, c := range []struct {
		args []string
		code []int
	}{
		{[]string{"list"}, []int{0}},
		{[]string{"show", r.ID}, []int{0}},
		{[]string{"capture", r.ID}, []int{0}},
		{[]string{"new", "demo", "--", "no room"}, []int{1}},
		{[]string{"restart", idle.ID}, []int{1}},
		{[]string{"complete", idle.ID}, []int{0, 1}}, // the last page of the journal may have room for it
	} {
		res := w.run(c.args...)
		if !slices.Contains(c.code, res.code) {
			t.Errorf("berth %v: exit %d, want one of %v\n%s%s", c.args, res.code, c.code, res.out, res.errOut)
		}
		if res.code == 1 && !(strings.Contains(res.errOut, w.home) && (strings.Contains(res.errOut, "no space left") || strings.Contains(res.errOut, "full"))) {
			t.Errorf("berth %v does not say what is wrong: %s", c.args, res.errOut)
		}
	}
	if !alive(r.Client.PID) {
		t.Error("the agent is gone")
	}
	stopped := w.run("stop", r.ID).want(1) // it ends what spends money, though it cannot say so to those who come
	if alive(r.Client.PID) || !strings.Contains(stopped.errOut, "has ended, and that could not be written down") || !strings.Contains(stopped.errOut, "no space left") {
		t.Errorf("stop, the agent alive: %v: %s", alive(r.Client.PID), stopped.errOut)
	}
	after := w.files()
	for path, data := range before {
		now, ok := after[path]
		switch name := filepath.Base(path); {
		case !ok:
			t.Errorf("%s is gone", path)
		case len(now) == 0 && len(data) > 0 && !strings.Contains(path, "/locks/") && !strings.HasPrefix(name, "berth.db-"):
			t.Errorf("%s became empty", path)
		case name == "manifest.json" || name == "home.json" || strings.Contains(path, "/clients/"):
			if string(now) != string(data) {
				t.Errorf("%s changed", path)
			}
		}
	}

	free()
	w.run("stop", r.ID).want(0)
	if now := w.show(r.ID); now.State != session.StateUnknown {
		t.Errorf("with room again: %+v", now)
	}
	w.run("restart", r.ID).want(0)
	if now := w.show(r.ID); *now.NativeID != *r.NativeID {
		t.Errorf("another conversation: %+v", now)
	}
	w.newDemo("there is room")
}

// A home on 64 KiB cannot even begin: that is said at once, and nothing is started.
func TestADiskTooSmallForAHome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.smallHome("64k")
	res := w.run("new", "demo", "--", "hello").want(1)
	if !strings.Contains(res.errOut, w.home) || !(strings.Contains(res.errOut, "no space left") || strings.Contains(res.errOut, "full")) {
		t.Errorf("said %s", res.errOut)
	}
	if left := marked("BERTH_HOME=" + w.home); len(left) > 0 {
		t.Errorf("started: %v", left)
	}
}

// smallHome puts the home on a disk of this size. The function it returns fills the
// disk, and returns the one that makes room again.
func (w *world) smallHome(size string) (fill func() (free func())) {
	w.t.Helper()
	if os.Geteuid() != 0 {
		w.t.Skip("only root can mount a small disk")
	}
	must(w.t, os.Mkdir(w.home, 0o700))
	if err := unix.Mount("tmpfs", w.home, "tmpfs", 0, "mode=700,size="+size); err != nil {
		w.t.Skipf("cannot mount a small disk: %v", err)
	}
	ballast := filepath.Join(w.home, "ballast")
	w.t.Cleanup(func() { // before the world ends, which needs room and then must remove it
		os.Remove(ballast)
		w.end()
		if err := unix.Unmount(w.home, unix.MNT_DETACH); err != nil {
			w.t.Error(err)
		}
	})
	return func() func() {
		w.t.Helper()
		f, err := os.OpenFile(ballast, os.O_CREATE|os.O_WRONLY, 0o600)
		must(w.t, err)
		for err == nil {
			_, err = f.Write(make([]byte, 512))
		}
		must(w.t, f.Close())
		if !errors.Is(err, unix.ENOSPC) {
			w.t.Fatal(err)
		}
		return func() { must(w.t, os.Remove(ballast)) }
	}
}

// forgetTmux has the home's tmux server, or its configuration, written anew by the
// next command.
func (w *world) forgetTmux(t *testing.T, op string) {
	t.Helper()
	if op == "tmux-conf" {
		must(t, os.Remove(filepath.Join(w.home, "tmux.conf")))
		return
	}
	pid := w.tmuxServer()
	must(t, unix.Kill(pid, unix.SIGKILL))
	w.eventually("the tmux server is gone", func() bool { return !alive(pid) })
	must(t, os.Remove(filepath.Join(w.home, "tmux.json")))
}
