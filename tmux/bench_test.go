package tmux

import (
	"fmt"
	"testing"
)

func BenchmarkNewSessionWarm(b *testing.B) {
	s := newServer(b)
	mustNew(b, s, spec("first"))
	for i := 0; b.Loop(); i++ {
		mustNew(b, s, spec(fmt.Sprintf("s%d", i)))
	}
}

func BenchmarkNewSessionCold(b *testing.B) {
	s := newServer(b)
	for b.Loop() {
		mustNew(b, s, spec("x"))
		b.StopTimer()
		raw(b, s, "kill-server")
		waitFor(b, "the server is gone", func() bool { return s.Status(ctx).Life.Status.String() == "dead" })
		b.StartTimer()
	}
}

// What tmux costs by itself, to compare with.
func BenchmarkRawNewSessionWarm(b *testing.B) {
	s := newServer(b)
	mustNew(b, s, spec("first"))
	for i := 0; b.Loop(); i++ {
		raw(b, s, "new-session", "-d", "-s", fmt.Sprintf("s%d", i), "sleep", "1000")
	}
}

func benchmark(b *testing.B, sessions int, f func(*Server, Pane) error) {
	s := newServer(b)
	var p Pane
	for i := range sessions {
		p = mustNew(b, s, spec(fmt.Sprintf("s%d", i)))
	}
	for b.Loop() {
		if err := f(s, p); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFind1(b *testing.B) {
	benchmark(b, 1, func(s *Server, p Pane) error { _, err := s.Find(ctx, p.Berth); return err })
}

func BenchmarkFind100(b *testing.B) {
	benchmark(b, 100, func(s *Server, p Pane) error { _, err := s.Find(ctx, p.Berth); return err })
}

func BenchmarkPanes100(b *testing.B) {
	benchmark(b, 100, func(s *Server, _ Pane) error { _, err := s.Panes(ctx); return err })
}

func BenchmarkWatchers(b *testing.B) {
	benchmark(b, 1, func(s *Server, p Pane) error { _, err := s.Watchers(ctx, p.ID); return err })
}

func BenchmarkCapture(b *testing.B) {
	benchmark(b, 1, func(s *Server, p Pane) error { _, err := s.Capture(ctx, p, CaptureOptions{ANSI: true}); return err })
}

func BenchmarkStatus(b *testing.B) {
	benchmark(b, 1, func(s *Server, _ Pane) error { s.Status(ctx); return nil })
}
