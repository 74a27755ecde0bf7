package cli

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Env is what a verb runs with.
type Env struct {
	Streams
	Getenv func(string) string
	System System   // what main handed over
	JSON   bool     // --json: print one document
	Args   []string // the arguments; their number has been checked
	Text   []string // the words after "--" of a verb with Text; nil without "--"
}

// Streams is where a verb reads and writes, and what is known of it. Out is
// data; everything said to a person goes to Err.
type Streams struct {
	In                    io.Reader
	Out, Err              io.Writer
	InTTY, OutTTY, ErrTTY bool
	Width                 int // columns of Out's terminal; 0: no terminal, no limit

	wrote *bool // something went to Out
}

func newEnv(sys System, json bool) *Env {
	wrote := new(bool)
	s := Streams{
		In:     sys.Stdin,
		Out:    &watched{sys.Stdout, wrote},
		Err:    sys.Stderr,
		InTTY:  isTerminal(sys.Stdin),
		OutTTY: isTerminal(sys.Stdout),
		ErrTTY: isTerminal(sys.Stderr),
		wrote:  wrote,
	}
	if s.OutTTY {
		s.Width, _, _ = term.GetSize(int(sys.Stdout.(*os.File).Fd())) // a terminal without a size has no limit
	}
	return &Env{Streams: s, Getenv: sys.Getenv, System: sys, JSON: json}
}

// Terminal is the person's terminal, for a verb that takes it over; ok is false
// unless both In and Out are one. The files belong to main.
func (s *Streams) Terminal() (in, out *os.File, ok bool) {
	if !s.InTTY || !s.OutTTY {
		return nil, nil, false
	}
	return s.In.(*os.File), s.Out.(*watched).Writer.(*os.File), true
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// watched notes that something was written, so that an error's document never
// becomes a second one.
type watched struct {
	io.Writer
	wrote *bool
}

func (w *watched) Write(p []byte) (int, error) {
	*w.wrote = *w.wrote || len(p) > 0
	return w.Writer.Write(p)
}
