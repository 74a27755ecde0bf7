//go:build linux

package e2e

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/protocol"
	"berth/internal/screen"
	"berth/internal/session"
	"berth/tmux"

	"golang.org/x/term"
)

// The spinner draws its screen once, turns a wheel in one cell of it for 400 KB when
// a g is typed, and is quiet: nothing it ever wrote again says what the rest of its screen shows. It
// takes no notice of sizes.

func init() { roles["spinner"] = spinner }

func spinner(args []string) int {
	if _, err := term.MakeRaw(0); err != nil {
		return 96
	}
	out := bufio.NewWriter(os.Stdout)
	if args[0] == "alternate" {
		fmt.Fprint(out, "\x1b[?1049h\x1b[?1002h\x1b[?1006h\x1b[?25l\x1b=\x1b[?1h\x1b[>1u\x1b[>4;2m\x1b[5 q")
	}
	fmt.Fprint(out, "\x1b]2;the spinner\a\x1b[?2004h\x1b[?1004h\x1b[H")
	for i := 1; i <= 20; i++ {
		fmt.Fprintf(out, "\x1b[38;5;%dmstatic row %d \x1b[1mbold \x1b[7;48;2;9;99;%dmreverse\x1b[m \x1b(0lqqk\x1b(B ünï 漢字\x1b[K\r\n", 16+i, i, i)
	}
	fmt.Fprint(out, "\x1b[4mwheel ")
	out.Flush()
	for in := make([]byte, 1); in[0] != 'g'; {
		if _, err := os.Stdin.Read(in); err != nil {
			return 95
		}
	}
	for n := 0; n < 400<<10; {
		k, _ := fmt.Fprintf(out, "\x1b[%dm%c\b", 31+n%6, `|/-\`[n%4])
		n += k
	}
	fmt.Fprint(out, "\x1b[mturned ")
	out.Flush()
	io.Copy(io.Discard, os.Stdin) // a terminal tells of focus
	return 0
}

// A screen that was drawn once, long ago, is moved cell by cell and with all modes,
// though its program does nothing for it.
func TestPictureOfAnOldScreen(t *testing.T) {
	for _, row := range []struct {
		name, which string
		sizes       [][2]int
	}{
		{"on the alternate screen", "alternate", [][2]int{{80, 24}, {80, 24}, {100, 30}, {80, 12}}},
		{"on the main screen", "main", [][2]int{{80, 24}, {80, 24}, {80, 12}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.config(fmt.Sprintf("[provider.spinner]\nstart = %s\nnative_id = \"none\"\nready = \"start\"\n", tomlArray(roleArgv("spinner", row.which))))
			r := w.run("new", "spinner", "--json").want(0).record()
			mirror := *w.tmuxHost(r.ID).Pane
			s := w.newScratch()
			own := tmux.New(tmux.Options{Socket: r.Tmux.Socket, Env: w.env})
			first := s.open(80, 24, berthBin, "open", r.ID)
			first.waitFor("wheel")
			first.keys("g")
			first.waitFor("turned")
			for i, size := range row.sizes {
				x := s.moveTo(r, size[0], size[1])
				x.waitFor("turned")
				w.compared(fmt.Sprintf("picture %d, at %v", i, size), func() (bool, string) {
					is, want := x.shows(), shown(t, own, mirror)
					return is == want, is + "the pane of the session shows:\n" + want
				})
			}
			// Modes that tmux does not tell, from the bytes themselves.
			h := w.joinWire(r, protocol.WantMove, 80, 24)
			h.hasKeyboard()
			var sc screen.Scanner
			h.mu.Lock()
			sc.Feed(h.pictures[0])
			h.mu.Unlock()
			want := screen.Modes{BracketedPaste: true, Focus: true, Title: "the spinner"}
			if row.which == "alternate" {
				want = screen.Modes{
					AltScreen: 1049, Mouse: 1002, MouseEncoding: 1006, CursorHidden: true, AppKeypad: true, AppCursor: true,
					BracketedPaste: true, Focus: true, ModifyOtherKeys: 2, CursorStyle: 5, Title: "the spinner",
				}
			}
			got := sc.Modes()
			want.KittyAlt = got.KittyAlt // compared as what it tells a client
			if got != want || row.which == "alternate" && !strings.Contains(string(h.pictures[0]), "\x1b[>1u") {
				t.Errorf("modes of the picture %+v\nwant %+v", got, want)
			}
		})
	}
}

// moveTo moves a session to a terminal of that size. On a machine too busy for the
// pane to draw its screen in time that is said, and it is moved again.
func (s *scratch) moveTo(r session.Record, cols, rows int) terminal {
	s.w.t.Helper()
	for {
		before := len(s.w.pictures(r))
		x := s.open(cols, rows, berthBin, "move", r.ID)
		s.w.eventually("the move is on record", func() bool { return len(s.w.pictures(r)) > before })
		if s.w.pictures(r)[before] != "approximate" {
			return x
		}
	}
}

// pictures are how the holders of a session so far got their pictures.
func (w *world) pictures(r session.Record) (out []string) {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.runDir(r), "events.jsonl"))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range events(w.t, string(b)) {
		if how, ok := e.Detail["picture"].(string); ok {
			out = append(out, how)
		}
	}
	return out
}
