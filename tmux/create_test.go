package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"berth/clients"
	"berth/internal/session"
)

var ctx = context.Background()

func TestNewSessionIsFoundAndRecorded(t *testing.T) {
	s := newServer(t)
	id := session.NewID()
	p := mustNew(t, s, spec(id))
	if p.Berth != id || p.SessionName != Name(id) || p.Dead || p.PID == 0 || p.Width != 80 || p.Height != 24 {
		t.Errorf("made %+v", p)
	}
	found, err := s.Find(ctx, id)
	if err != nil || found != p {
		t.Errorf("found %+v, %v; made %+v", found, err, p)
	}
	if got := serverOf(t, s); got.PID != p.ServerPID {
		t.Errorf("recorded %v, server is %d", got, p.ServerPID)
	}
	if st := s.Status(ctx); st.Life.Status != clients.Live || !strings.HasPrefix(st.Version, "3.") && st.Version == "" {
		t.Errorf("status %+v", st)
	}
	if names := raw(t, s, "list-sessions", "-F", "#{session_name}"); names != Name(id) {
		t.Errorf("tmux calls it %q, not %q", names, Name(id))
	}
	if p, err := s.Find(ctx, session.NewID()); !errors.Is(err, ErrNoSession) {
		t.Errorf("found %+v, %v", p, err)
	}
}

func TestReviewIDsWork(t *testing.T) {
	s := newServer(t)
	id, other := "task-1:inv:flow:node:1", "task-1:inv:flow:node:10"
	mustNew(t, s, spec(other))
	mustNew(t, s, spec(id))
	if err := s.Kill(ctx, id); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Find(ctx, id); !errors.Is(err, ErrNoSession) {
		t.Errorf("killed one is found: %v", err)
	}
	if _, err := s.Find(ctx, other); err != nil {
		t.Error(err)
	}
}

func TestArgvArrivesByteForByte(t *testing.T) {
	s := newServer(t)
	read := func(file string) []string {
		var got []byte
		waitFor(t, "the program wrote its arguments", func() bool {
			got, _ = os.ReadFile(file)
			return strings.HasSuffix(string(got), "\x00END\x00")
		})
		return strings.Split(strings.TrimSuffix(string(got), "\x00END\x00"), "\x00")
	}
	script := `f=$1; shift; printf '%s\0' "$@" END > "$f"; exit 7`
	dir := filepath.Dir(s.Socket)

	id := session.NewID()
	first := filepath.Join(dir, "first")
	p := mustNew(t, s, spec(id, append([]string{"/bin/sh", "-c", script, "sh", first}, oddWords...)...))
	if got := read(first); !slices.Equal(got, oddWords) {
		t.Errorf("new-session: got %q\nwant %q", got, oddWords)
	}
	waitFor(t, "the pane is dead", func() bool {
		p, _ = s.Find(ctx, id)
		return p.Dead && p.ExitStatus != NoStatus
	})
	if p.ExitStatus != 7 || p.Signal != "" {
		t.Errorf("ended as %+v", p)
	}
	second := filepath.Join(dir, "second")
	if err := s.Respawn(ctx, p, append([]string{"/bin/sh", "-c", script + "; ", "sh", second}, oddWords...)); err != nil {
		t.Fatal(err)
	}
	if got := read(second); !slices.Equal(got, oddWords) {
		t.Errorf("respawn-pane: got %q\nwant %q", got, oddWords)
	}
}

func TestSingleWordIsNotAShellLine(t *testing.T) {
	s := newServer(t)
	dir := filepath.Join(filepath.Dir(s.Socket), "a dir;#{pid}")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	prog := filepath.Join(dir, "pro gram;")
	if err := os.WriteFile(prog, []byte("#!/bin/sh\npwd > out\nexec sleep 1000\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	sp := spec("one", prog)
	sp.Cwd = dir
	mustNew(t, s, sp)
	waitFor(t, "the program says where it is", func() bool {
		b, _ := os.ReadFile(filepath.Join(dir, "out"))
		return string(b) == dir+"\n"
	})
}

func TestMissingProgramLeavesADeadPane(t *testing.T) {
	s := newServer(t)
	mustNew(t, s, spec("gone", "/no/such/program", "x"))
	waitFor(t, "the pane is dead", func() bool {
		p, err := s.Find(ctx, "gone")
		return err == nil && p.Dead && p.ExitStatus == 1
	})
}

// Every end is noticed, though tmux itself misses some: see reap.
func TestNoEndIsMissed(t *testing.T) {
	s := newServer(t)
	for i := range 40 {
		id := fmt.Sprintf("s%d", i)
		status := i % 2
		if _, err := s.NewSession(ctx, spec(id, "/bin/sh", "-c", fmt.Sprintf("echo x; exit %d", status))); err != nil && !errors.Is(err, ErrNoSession) {
			t.Fatal(err)
		}
		waitFor(t, "the end is noticed", func() bool {
			p, err := s.Find(ctx, id)
			return status == 0 && errors.Is(err, ErrNoSession) || status == 1 && err == nil && p.ExitStatus == 1
		})
	}
}

func TestEndedBySignal(t *testing.T) {
	s := newServer(t)
	mustNew(t, s, spec("sig", "/bin/sh", "-c", "kill -9 $$"))
	waitFor(t, "the pane is dead of a signal", func() bool {
		p, err := s.Find(ctx, "sig")
		return err == nil && p.Dead && p.Signal != "" && p.ExitStatus == NoStatus
	})
}

func TestCleanEndTakesTheSessionAway(t *testing.T) {
	s := newServer(t)
	if p, err := s.NewSession(ctx, spec("ok", "true", "x")); err != nil && !errors.Is(err, ErrNoSession) {
		t.Fatalf("%+v, %v", p, err)
	}
	waitFor(t, "the session is gone", func() bool {
		_, err := s.Find(ctx, "ok")
		return errors.Is(err, ErrNoSession)
	})
}

func TestRefusedSpecs(t *testing.T) {
	s := newServer(t)
	for name, change := range map[string]func(*Spec){
		"too long":      func(sp *Spec) { sp.Argv = []string{"sleep", strings.Repeat("1", maxCommandBytes)} },
		"no program":    func(sp *Spec) { sp.Argv = nil },
		"empty program": func(sp *Spec) { sp.Argv = []string{""} },
		"no directory":  func(sp *Spec) { sp.Cwd = "/no/such" },
		"a file":        func(sp *Spec) { sp.Cwd = "/dev/null" },
		"dotted name":   func(sp *Spec) { sp.Name = "a.b" },
		"bad id":        func(sp *Spec) { sp.ID = "a,b" },
	} {
		sp := spec("x")
		change(&sp)
		if _, err := s.NewSession(ctx, sp); err == nil {
			t.Errorf("%s: accepted", name)
		} else if name == "too long" && !errors.Is(err, ErrTooLong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if st := s.Status(ctx); st.Life.Status != clients.Dead {
		t.Errorf("a server was started: %+v", st.Life)
	}
	// What is just allowed really fits.
	sp := spec("big")
	cmd, err := sp.command()
	if err != nil {
		t.Fatal(err)
	}
	used := 0
	for _, a := range cmd {
		used += len(a) + 1
	}
	sp.Argv = append(sp.Argv, strings.Repeat("1", maxCommandBytes-used-1))
	if _, err := s.NewSession(ctx, sp); err != nil {
		t.Error(err)
	}
}

func TestParallelColdStartOneWinner(t *testing.T) {
	s := newServer(t)
	const n = 20
	errs, pids := make([]error, n), make([]int, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { _, errs[i] = s.NewSession(ctx, spec("same")) })
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else if !errors.Is(err, ErrDuplicate) {
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d winners", won)
	}
	for i := range n {
		wg.Go(func() {
			p, err := s.NewSession(ctx, spec(fmt.Sprintf("s%d", i)))
			pids[i], errs[i] = p.ServerPID, err
		})
	}
	wg.Wait()
	for i := range n {
		if errs[i] != nil || pids[i] != pids[0] {
			t.Errorf("server %d, %v", pids[i], errs[i])
		}
	}
	if got := serverOf(t, s).PID; got != pids[0] {
		t.Errorf("recorded %d, server is %d", got, pids[0])
	}
	if panes, err := s.Panes(ctx); err != nil || len(panes) != n+1 {
		t.Errorf("%d panes, %v", len(panes), err)
	}
}

func TestParallelColdStartDistinct(t *testing.T) {
	for range 3 {
		s := newServer(t)
		errs := make([]error, 20)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() { _, errs[i] = s.NewSession(ctx, spec(fmt.Sprintf("s%d", i))) })
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		if panes, err := s.Panes(ctx); err != nil || len(panes) != 20 {
			t.Errorf("%d panes, %v", len(panes), err)
		}
	}
}

// FAULTS 35.
func TestNewSessionRightAfterTheLastEnded(t *testing.T) {
	s := newServer(t)
	for i := range 40 {
		mustNew(t, s, spec("x"))
		if i%2 == 0 {
			if err := s.Kill(ctx, "x"); err != nil {
				t.Fatal(err)
			}
		} else {
			raw(t, s, "kill-server")
		}
	}
}

// FAULTS 36.
func TestKilledClientIsAdopted(t *testing.T) {
	s := newServer(t)
	mustNew(t, s, spec("keep"))
	for i := range 10 {
		id := fmt.Sprintf("k%d", i)
		short, cancel := context.WithCancel(ctx)
		go cancel()
		_, _ = s.NewSession(short, spec(id)) //nolint:errcheck // either way: what follows must hold
		_, err := s.NewSession(ctx, spec(id))
		if err != nil && !errors.Is(err, ErrDuplicate) {
			t.Fatal(err)
		}
		if p, err := s.Find(ctx, id); err != nil || p.Berth != id {
			t.Errorf("%s: %+v, %v", id, p, err)
		}
	}
}

func TestTwoServersNeverSeeEachOther(t *testing.T) {
	a, b := newServer(t), newServer(t)
	mustNew(t, a, spec("x"))
	if _, err := b.Find(ctx, "x"); !errors.Is(err, ErrNoServer) {
		t.Errorf("b: %v", err)
	}
	mustNew(t, b, spec("x"))
	if err := a.Kill(ctx, "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Find(ctx, "x"); err != nil {
		t.Error(err)
	}
}

func TestTMUXOfTheCallerIsIgnored(t *testing.T) {
	a := newServer(t)
	mustNew(t, a, spec("x"))
	b := newServer(t, func(o *Options) { o.Env = append(o.Env, "TMUX="+a.Socket+",1,0", "TMUX_PANE=%0") })
	p := mustNew(t, b, spec("x"))
	if p.ServerPID == serverOf(t, a).PID {
		t.Error("made in the other server")
	}
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.ServerPID))
	if err == nil && strings.Contains(string(env), "TMUX") {
		t.Errorf("the server carries %q", env)
	}
}

func TestSocketDirectoryMissing(t *testing.T) {
	s := newServer(t)
	s.Socket = filepath.Join(filepath.Dir(s.Socket), "none", "s")
	if _, err := s.NewSession(ctx, spec("x")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := s.call(ctx, nil, []string{"-f", s.Conf}, "new-session", "-d"); err == nil {
		t.Error("tmux's own status 0 was believed")
	}
}

func TestPaneEnv(t *testing.T) {
	s := newServer(t)
	out := filepath.Join(filepath.Dir(s.Socket), "out")
	sp := spec("e", "/bin/sh", "-c", `printf '%s|%s' "$A" "$B" > `+out+`; sleep 1000`)
	sp.Env = []string{"A=x y;", "B=#{pid}\n"}
	mustNew(t, s, sp)
	waitFor(t, "the environment is written", func() bool {
		b, _ := os.ReadFile(out)
		return string(b) == "x y;|#{pid}\n"
	})
}
