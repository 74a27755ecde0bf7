package tmux

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"berth/internal/session"

	"golang.org/x/sys/unix"
)

// attach attaches to a session in a terminal, which is a pane of another tmux.
// It returns that server and pane; the pane's pid is the client.
func attach(t *testing.T, s *Server, name string, readOnly bool) (*Server, Pane) {
	t.Helper()
	before := strings.Count(raw(t, s, "list-clients", "-F", "x"), "x")
	term := newServer(t)
	sp := spec("terminal", s.AttachArgv(name, readOnly)...)
	sp.Width, sp.Height = 100, 30
	p := mustNew(t, term, sp)
	waitFor(t, "the client is attached", func() bool {
		return strings.Count(raw(t, s, "list-clients", "-F", "x"), "x") == before+1
	})
	return term, p
}

func watchers(t *testing.T, s *Server, pane string) int {
	t.Helper()
	ttys, err := s.Watchers(ctx, pane)
	if err != nil {
		t.Fatal(err)
	}
	n := len(ttys)
	if slices.ContainsFunc(ttys, func(tty string) bool { return !strings.HasPrefix(tty, "/dev/") }) {
		t.Errorf("terminals %q", ttys)
	}
	if all, err := s.WatchersByPane(ctx); err != nil || all[pane] != n { // the two ways to count agree
		t.Errorf("by pane %v, %v; for %s alone %d", all, err, pane, n)
	}
	return n
}

func TestWatchers(t *testing.T) {
	s := newServer(t)
	if all, err := s.WatchersByPane(ctx); err != nil || len(all) != 0 {
		t.Errorf("no server: %v, %v", all, err)
	}
	x, y := mustNew(t, s, spec("x")), mustNew(t, s, spec("y"))
	if n := watchers(t, s, x.ID); n != 0 {
		t.Errorf("nobody attached: %d", n)
	}
	_, client := attach(t, s, Name("x"), false)
	attach(t, s, Name("x"), true)
	if nx, ny := watchers(t, s, x.ID), watchers(t, s, y.ID); nx != 1 || ny != 0 {
		t.Errorf("one and a reader attached: x %d, y %d", nx, ny)
	}
	raw(t, s, "split-window", "-t", x.ID, "sleep", "1000")
	if n := watchers(t, s, x.ID); n != 1 {
		t.Errorf("split: %d", n)
	}
	if all, err := s.WatchersByPane(ctx); err != nil || len(all) != 2 {
		t.Errorf("panes that people split off are counted: %v, %v", all, err)
	}
	raw(t, s, "resize-pane", "-Z", "-t", "="+Name("x")+":") // the new pane is the active one
	if n := watchers(t, s, x.ID); n != 0 {
		t.Errorf("another pane is zoomed: %d", n)
	}
	raw(t, s, "resize-pane", "-Z", "-t", "="+Name("x")+":")
	raw(t, s, "new-window", "-t", "="+Name("x")+":", "sleep", "1000")
	if n := watchers(t, s, x.ID); n != 0 {
		t.Errorf("looking at another window: %d", n)
	}
	raw(t, s, "select-window", "-t", x.WindowID)
	if n := watchers(t, s, x.ID); n != 1 {
		t.Errorf("back: %d", n)
	}
	signal(t, client.PID, unix.SIGKILL) // FAULTS: a client's death harms nothing
	waitFor(t, "the client is gone", func() bool { return watchers(t, s, x.ID) == 0 })
	if _, err := s.Find(ctx, "x"); err != nil {
		t.Error(err)
	}
	if _, err := s.Watchers(ctx, "%99"); !errors.Is(err, ErrNoSession) {
		t.Errorf("no such pane: %v", err)
	}
}

// FAULTS 31.
func TestSwitchClient(t *testing.T) {
	s := newServer(t)
	x, y := mustNew(t, s, spec("x")), mustNew(t, s, spec("y"))
	if err := s.SwitchClient(ctx, x.ID, Name("y")); err == nil {
		t.Error("switched a client that is not there")
	}
	attach(t, s, Name("x"), false)
	if err := s.SwitchClient(ctx, x.ID, Name("nope")); !errors.Is(err, ErrNoSession) {
		t.Errorf("to nowhere: %v", err)
	}
	if err := s.SwitchClient(ctx, x.ID, Name("y")); err != nil {
		t.Fatal(err)
	}
	if nx, ny := watchers(t, s, x.ID), watchers(t, s, y.ID); nx != 0 || ny != 1 {
		t.Errorf("after the switch: x %d, y %d", nx, ny)
	}
}

func TestInsideThisServer(t *testing.T) {
	a, b := newServer(t), newServer(t)
	mustNew(t, a, spec("x"))
	mustNew(t, b, spec("x"))
	link := filepath.Join(filepath.Dir(a.Socket), "other,name")
	if err := os.Symlink(a.Socket, link); err != nil {
		t.Fatal(err)
	}
	for env, want := range map[string]bool{
		a.Socket + ",123,0": true,
		link + ",123,0":     true,
		b.Socket + ",123,0": false,
		"":                  false,
		a.Socket:            false,
		"/no/such,1,0":      false,
	} {
		if got := a.InsideThisServer(env); got != want {
			t.Errorf("%q: %v", env, got)
		}
	}
}

func TestAttachNeverStartsAServer(t *testing.T) {
	s, term := newServer(t), newServer(t)
	mustNew(t, term, spec("terminal", s.AttachArgv(Name("x"), false)...))
	waitFor(t, "the client refused", func() bool {
		p, err := term.Find(ctx, "terminal")
		return err == nil && p.Dead && p.ExitStatus == 1
	})
	if _, err := os.Stat(s.Socket); err == nil {
		t.Error("a server was started")
	}
}

func TestPinAndUnpin(t *testing.T) {
	s := newServer(t)
	x := mustNew(t, s, spec("x"))
	size := func() string {
		p, err := s.Find(ctx, "x")
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%dx%d", p.Width, p.Height)
	}
	if err := s.ResizeWindow(ctx, x.ID, 132, 43); err != nil {
		t.Fatal(err)
	}
	if got := size(); got != "132x43" {
		t.Errorf("resized to %s", got)
	}
	attach(t, s, Name("x"), false) // 100x30
	if got := size(); got != "132x43" {
		t.Errorf("a client changed a pinned window to %s", got)
	}
	if err := s.UnpinWindow(ctx, x.ID); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the window follows its client", func() bool { return size() == "100x30" })
	if err := s.ResizeWindow(ctx, "%99", 10, 10); !errors.Is(err, ErrNoSession) {
		t.Errorf("no such pane: %v", err)
	}
}

// A notice is what a client's last row says, and takes nothing of the window; what was
// there before comes back.
func TestNotice(t *testing.T) {
	s := newServer(t)
	x := mustNew(t, s, spec("x"))
	if err := s.ResizeWindow(ctx, x.ID, 100, 30); err != nil {
		t.Fatal(err)
	}
	attach(t, s, Name("x"), false) // 100x30
	size := func() string { return raw(t, s, "display-message", "-p", "-t", x.ID, "#{pane_height}") }
	before := raw(t, s, "show-options", "-t", x.ID)
	const text = "100% of #{pane_id} #S; %H:%M #"
	if err := s.SetNotice(ctx, x.ID, text); err != nil {
		t.Fatal(err)
	}
	if got := raw(t, s, "display-message", "-p", "-t", x.ID, "#{status} #{T:status-format[0]}"); got != "on "+text || size() != "30" {
		t.Errorf("the status line is %q, the pane has %s rows", got, size())
	}
	if err := s.SetNotice(ctx, x.ID, ""); err != nil {
		t.Fatal(err)
	}
	if got := raw(t, s, "show-options", "-t", x.ID); got != before {
		t.Errorf("the options of the session were\n%s\nand are\n%s", before, got)
	}
	if err := s.SetNotice(ctx, "%99", "x"); !errors.Is(err, ErrNoSession) {
		t.Errorf("no such pane: %v", err)
	}
}

func TestCapture(t *testing.T) {
	s := newServer(t)
	sp := spec("x", "/bin/sh", "-c", `seq 100; printf '\033[31mred\033[m %090d é' 7; sleep 1000`)
	p := mustNew(t, s, sp)
	capture := func(o CaptureOptions) string {
		b, err := s.Capture(ctx, p, o)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	waitFor(t, "all is on the screen", func() bool { return strings.Contains(capture(CaptureOptions{}), "7 é\n") })
	if got := capture(CaptureOptions{}); strings.Contains(got, "\n10\n") || strings.Contains(got, "\x1b") {
		t.Errorf("screen %q", got)
	}
	if got := capture(CaptureOptions{ANSI: true}); !strings.Contains(got, "\x1b[31mred") {
		t.Errorf("ansi %q", got)
	}
	if got := capture(CaptureOptions{Join: true}); !strings.Contains(got, fmt.Sprintf("red %090d é", 7)) {
		t.Errorf("joined %q", got)
	}
	if got := capture(CaptureOptions{HistoryLines: -1}); !strings.HasPrefix(got, "1\n2\n") {
		t.Errorf("history %q", got)
	}
	if got := strings.Count(capture(CaptureOptions{HistoryLines: 3}), "\n"); got != 27 {
		t.Errorf("%d lines", got)
	}
	if _, err := s.Capture(ctx, Pane{ID: "%99"}, CaptureOptions{}); !errors.Is(err, ErrNoSession) {
		t.Errorf("no such pane: %v", err)
	}
}

func TestNotInstalled(t *testing.T) {
	s := newServer(t, func(o *Options) { o.Bin = "/no/such/tmux" })
	_, err := s.NewSession(ctx, spec("x"))
	if !errors.Is(err, ErrNotInstalled) || session.HintOf(err) == "" {
		t.Errorf("got %v", err)
	}
}
