package demo

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"
)

const (
	modesOn  = "\x1b[?1049h\x1b[?2004h" // alternate screen, bracketed paste
	modesOff = "\x1b[?2004l\x1b[0m\x1b[?1049l"

	frameBegin = "\x1b[?2026h" // synchronized output: the terminal shows a frame whole
	frameEnd   = "\x1b[?2026l"
)

// terminal shows frames on the alternate screen. It asks the terminal nothing.
// Writes that fail are not told: a terminal that is gone says so by the end of input.
type terminal struct {
	in, out *os.File
	w, h    int
	cooked  *term.State
	shown   frame
}

// enter takes the terminal over.
func (t *terminal) enter() (err error) {
	if t.cooked, err = term.MakeRaw(int(t.in.Fd())); err != nil {
		return err
	}
	t.out.WriteString(modesOn)
	t.measure()
	return nil
}

// measure asks the system for the terminal's size; the next frame is drawn whole.
func (t *terminal) measure() {
	w, h, err := term.GetSize(int(t.out.Fd()))
	if err != nil || w <= 0 || h <= 0 {
		w, h = 80, 24
	}
	t.w, t.h, t.shown = w, h, frame{}
}

// draw shows f, writing only rows that changed.
func (t *terminal) draw(f frame) {
	var b strings.Builder
	whole := len(t.shown.rows) != len(f.rows)
	if whole {
		b.WriteString("\x1b[H\x1b[2J")
	}
	for i, r := range f.rows {
		if whole || r != t.shown.rows[i] {
			fmt.Fprintf(&b, "\x1b[%d;1H\x1b[2K%s", i+1, r)
		}
	}
	if b.Len() == 0 && t.shown.row == f.row && t.shown.col == f.col {
		return
	}
	t.shown = f
	fmt.Fprintf(t.out, "%s%s\x1b[%d;%dH%s", frameBegin, b.String(), f.row+1, f.col+1, frameEnd)
}

// leave gives the terminal back as it was.
func (t *terminal) leave() {
	t.out.WriteString(modesOff)
	t.cook()
}

// cook gives back only the terminal's line discipline, which never blocks.
func (t *terminal) cook() {
	term.Restore(int(t.in.Fd()), t.cooked) //nolint:errcheck // a terminal that is gone needs nothing
}
