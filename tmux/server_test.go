package tmux

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/clients"

	"golang.org/x/sys/unix"
)

// patience bounds every wait of these tests. It is no measure of anything.
const patience = 20 * time.Second

// newServer returns a server of its own that is not started yet, and whatever
// processes it becomes are killed by pid at the end.
func newServer(t testing.TB, change ...func(*Options)) *Server {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Fatal("tmux is not installed: make test installs it")
	}
	dir, err := os.MkdirTemp("", "bt") // t.TempDir() is longer than a socket path may be
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Socket:  filepath.Join(dir, "s"),
		Conf:    filepath.Join(dir, "tmux.conf"),
		Record:  filepath.Join(dir, "tmux.json"),
		Env:     []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TERM=xterm-256color", "BERTHTEST=" + dir},
		Timeout: patience,
	}
	for _, c := range change {
		c(&o)
	}
	if err := WriteConf(o.Conf, ConfOptions{}); err != nil {
		t.Fatal(err)
	}
	s := New(o)
	t.Cleanup(func() {
		if r, err := s.ReadRecord(); err == nil { // where there is no /proc to look through
			signalProcess(r.Server, unix.SIGKILL) //nolint:errcheck // gone is fine
		}
		for _, pid := range processesOf(dir) {
			unix.Kill(pid, unix.SIGKILL) //nolint:errcheck // gone is fine
		}
		waitFor(t, "no process left", func() bool { return len(processesOf(dir)) == 0 })
		os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	})
	return s
}

// processesOf finds what a test's server started, and the server, by the mark in
// its environment.
func processesOf(dir string) []int {
	var pids []int
	list, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range list {
		if b, err := os.ReadFile(f); err == nil && strings.Contains("\x00"+string(b), "\x00BERTHTEST="+dir+"\x00") {
			var pid int
			for _, c := range filepath.Base(filepath.Dir(f)) {
				pid = pid*10 + int(c-'0')
			}
			pids = append(pids, pid)
		}
	}
	return pids
}

func waitFor(t testing.TB, what string, cond func() bool) {
	t.Helper()
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for end := time.Now().Add(patience); !cond(); <-look.C {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

func spec(id string, argv ...string) Spec {
	if len(argv) == 0 {
		argv = []string{"sleep", "1000"}
	}
	return Spec{Name: Name(id), ID: id, Cwd: "/", Argv: argv, Width: 80, Height: 24}
}

func mustNew(t testing.TB, s *Server, sp Spec) Pane {
	t.Helper()
	p, err := s.NewSession(context.Background(), sp)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// raw runs a tmux command as a person would.
func raw(t testing.TB, s *Server, args ...string) string {
	t.Helper()
	out, err := s.call(context.Background(), nil, []string{"-N"}, args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func serverOf(t testing.TB, s *Server) clients.Identity {
	t.Helper()
	r, err := s.ReadRecord()
	if err != nil || r.Server.IsZero() {
		t.Fatalf("record %+v, %v", r, err)
	}
	return r.Server
}

func signal(t testing.TB, pid int, sig unix.Signal) {
	t.Helper()
	if err := unix.Kill(pid, sig); err != nil {
		t.Fatal(err)
	}
}
