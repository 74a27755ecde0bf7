package tmux

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"berth/clients"
	"berth/internal/session"

	"golang.org/x/sys/unix"
)

// FAULTS 28.
func TestTargetsAreExact(t *testing.T) {
	s := newServer(t)
	mustNew(t, s, Spec{Name: "x-10", ID: "x-10", Cwd: "/", Argv: []string{"sleep", "1000"}})
	if err := s.Kill(ctx, "x-1"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Find(ctx, "x-1"); !errors.Is(err, ErrNoSession) {
		t.Errorf("x-1: %v", err)
	}
	if _, err := s.Find(ctx, "x-10"); err != nil {
		t.Error(err)
	}
}

// FAULTS 29, and break-pane, move-pane and grouped sessions.
func TestPeopleRearrange(t *testing.T) {
	s := newServer(t)
	user := filepath.Join(filepath.Dir(s.Socket), "user.conf")
	if err := os.WriteFile(user, []byte("set -g base-index 1\nset -g pane-base-index 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.UserConf = user
	p := mustNew(t, s, spec("x"))
	other := mustNew(t, s, spec("y"))
	raw(t, s, "split-window", "-b", "-t", p.ID, "sleep", "1000")
	raw(t, s, "rename-session", "-t", "="+Name("x"), "mine")
	raw(t, s, "new-session", "-d", "-s", "group", "-t", "=mine")
	found, err := s.Find(ctx, "x")
	if err != nil || found.ID != p.ID || found.SessionName != "mine" || found.PID != p.PID {
		t.Errorf("found %+v, %v", found, err)
	}
	if panes, err := s.Panes(ctx); err != nil || len(panes) != 2 {
		t.Errorf("panes %+v, %v", panes, err)
	}
	raw(t, s, "move-pane", "-d", "-s", p.ID, "-t", other.ID)
	if found, err = s.Find(ctx, "x"); err != nil || found.ID != p.ID || found.Berth != "x" || found.SessionID != other.SessionID {
		t.Errorf("moved: %+v, %v", found, err)
	}
	if err := s.Kill(ctx, "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Find(ctx, "x"); !errors.Is(err, ErrNoSession) {
		t.Errorf("killed: %v", err)
	}
	if got, err := s.Find(ctx, "y"); err != nil || got.ID != other.ID {
		t.Errorf("other: %+v, %v", got, err)
	}
	if got := raw(t, s, "list-sessions", "-F", "#{session_name}"); strings.Contains(got, "mine") {
		t.Errorf("sessions %q", got)
	}
}

func TestKillComparesTheID(t *testing.T) {
	s := newServer(t)
	if err := s.Kill(ctx, "x"); err != nil {
		t.Errorf("no server: %v", err)
	}
	mustNew(t, s, spec("keep"))
	raw(t, s, "new-session", "-d", "-s", Name("x"), "sleep", "1000") // a stranger by that name
	if err := s.Kill(ctx, "x"); err != nil {
		t.Fatal(err)
	}
	raw(t, s, "has-session", "-t", "="+Name("x"))
	if _, err := s.NewSession(ctx, spec("x")); !errors.Is(err, ErrDuplicate) {
		t.Errorf("made beside a stranger: %v", err)
	}
	if _, err := s.Find(ctx, "x"); !errors.Is(err, ErrNoSession) {
		t.Errorf("the stranger is taken for ours: %v", err)
	}
}

func TestRespawnOnlyTheDead(t *testing.T) {
	s := newServer(t)
	p := mustNew(t, s, spec("x"))
	if err := s.Respawn(ctx, p, []string{"sleep", "5"}); !errors.Is(err, ErrNotDead) {
		t.Errorf("living pane: %v", err)
	}
	wrong := p
	wrong.Berth = "y"
	signal(t, p.PID, unix.SIGTERM)
	waitFor(t, "it is dead", func() bool { p, _ = s.Find(ctx, "x"); return p.Dead })
	if err := s.Respawn(ctx, wrong, []string{"sleep", "5"}); !errors.Is(err, ErrNotDead) {
		t.Errorf("another's pane: %v", err)
	}
	if err := s.Respawn(ctx, p, []string{"sleep", "1000"}); err != nil {
		t.Fatal(err)
	}
	now, err := s.Find(ctx, "x")
	if err != nil || now.ID != p.ID || now.Dead || now.PID == p.PID {
		t.Errorf("respawned %+v, %v", now, err)
	}
	wrong.ID = "%99"
	if err := s.Respawn(ctx, wrong, []string{"sleep", "5"}); !errors.Is(err, ErrNotDead) && !errors.Is(err, ErrNoSession) {
		t.Errorf("missing pane: %v", err)
	}
}

// FAULTS 30: deleted, and taken by a dead file.
func TestLostSocketIsRecovered(t *testing.T) {
	for name, lose := range map[string]func(*Server) error{
		"deleted": func(s *Server) error { return os.Remove(s.Socket) },
		"no socket any more": func(s *Server) error {
			os.Remove(s.Socket) //nolint:errcheck // WriteFile tells
			return os.WriteFile(s.Socket, nil, 0o600)
		},
		"bound by a dead server": func(s *Server) error {
			os.Remove(s.Socket) //nolint:errcheck // Bind tells
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd) //nolint:errcheck // a dead file is what is wanted
			return unix.Bind(fd, &unix.SockaddrUnix{Name: s.Socket})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			p := mustNew(t, s, spec("x"))
			if err := lose(s); err != nil {
				t.Fatal(err)
			}
			if st := s.Status(ctx); st.Life.Status != clients.Unknown {
				t.Errorf("status %+v", st.Life)
			}
			if _, err := s.NewSession(ctx, spec("x")); !errors.Is(err, ErrDuplicate) {
				t.Errorf("a second session: %v", err)
			}
			if got, err := s.Find(ctx, "x"); err != nil || got != p {
				t.Errorf("found %+v, %v", got, err)
			}
			if err := lose(s); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Find(ctx, "x"); err != nil || got != p { // queries mend too
				t.Errorf("found %+v, %v", got, err)
			}
			if st := s.Status(ctx); st.Life.Status != clients.Live {
				t.Errorf("status %+v", st.Life)
			}
		})
	}
}

// FAULTS 33.
func TestFrozenServerIsUnknownNotDead(t *testing.T) {
	s := newServer(t)
	p := mustNew(t, s, spec("x"))
	pid := serverOf(t, s).PID
	signal(t, pid, unix.SIGSTOP)
	quick := New(s.Options)
	quick.Timeout = 300 * time.Millisecond
	for name, f := range map[string]func() error{
		"find":    func() error { _, err := quick.Find(ctx, "x"); return err },
		"new":     func() error { _, err := quick.NewSession(ctx, spec("y")); return err },
		"kill":    func() error { return quick.Kill(ctx, "x") },
		"capture": func() error { _, err := quick.Capture(ctx, p, CaptureOptions{}); return err },
	} {
		if err := f(); !errors.Is(err, ErrTimeout) || session.ClassOf(err) != session.Unknown {
			t.Errorf("%s: %v", name, err)
		}
	}
	if st := quick.Status(ctx); st.Life.Status != clients.Unknown {
		t.Errorf("status %+v", st.Life)
	}
	if err := os.Remove(s.Socket); err != nil {
		t.Fatal(err)
	}
	if _, err := quick.NewSession(ctx, spec("x")); session.ClassOf(err) != session.Unknown || !errors.Is(err, ErrTimeout) {
		t.Errorf("frozen, without a socket: %v", err)
	}
	signal(t, pid, unix.SIGCONT)
	if got, err := s.Find(ctx, "x"); err != nil || got != p {
		t.Errorf("woken: %+v, %v", got, err)
	}
}

func TestKilledServerIsReplaced(t *testing.T) {
	s := newServer(t)
	mustNew(t, s, spec("x"))
	old := serverOf(t, s)
	signal(t, old.PID, unix.SIGKILL)
	waitFor(t, "the server is gone", func() bool { return s.Status(ctx).Life.Status == clients.Dead })
	if _, err := s.Find(ctx, "x"); !errors.Is(err, ErrNoServer) {
		t.Errorf("found: %v", err)
	}
	mustNew(t, s, spec("x"))
	if now := serverOf(t, s); now == old {
		t.Error("the record still names the dead one")
	}
}

// A record of a live server elsewhere, and one that cannot be read, never let a
// server be started.
func TestUnknownRecordStartsNothing(t *testing.T) {
	here := clients.Self()
	elsewhere := here
	elsewhere.PIDNS = "1"
	for name, write := range map[string]func(*Server) error{
		"another container": func(s *Server) error { return s.remember(elsewhere, "3.3a") },
		"unreadable":        func(s *Server) error { return os.WriteFile(s.Record, []byte("{"), 0o600) },
		"newer": func(s *Server) error {
			return os.WriteFile(s.Record, []byte(`{"schema_version":`+strconv.Itoa(recordVersion+1)+`}`), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			if err := write(s); err != nil {
				t.Fatal(err)
			}
			if _, err := s.NewSession(ctx, spec("x")); session.ClassOf(err) != session.Unknown {
				t.Errorf("got %v", err)
			}
			if st := s.Status(ctx); st.Life.Status != clients.Unknown {
				t.Errorf("status %+v", st.Life)
			}
			if _, err := os.Stat(s.Socket); err == nil {
				t.Error("a server was started")
			}
		})
	}
}

// Somebody started a server at our socket while the recorded one lives.
func TestSecondServerIsRefused(t *testing.T) {
	s := newServer(t)
	mustNew(t, s, spec("x"))
	first := serverOf(t, s)
	if err := os.Remove(s.Socket); err != nil {
		t.Fatal(err)
	}
	if _, err := s.call(ctx, nil, []string{"-f", s.Conf}, "new-session", "-d", "sleep", "1000"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.NewSession(ctx, spec("x")); !errors.Is(err, ErrLost) || session.ClassOf(err) != session.Unknown {
		t.Errorf("got %v", err)
	}
	if _, err := s.Find(ctx, "x"); !errors.Is(err, ErrNoSession) {
		t.Errorf("left behind: %v", err)
	}
	if st := s.Status(ctx); st.Life.Status != clients.Unknown {
		t.Errorf("status %+v", st.Life)
	}
	if got := serverOf(t, s); got != first {
		t.Errorf("record changed to %v", got)
	}
}
