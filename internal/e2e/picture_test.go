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

	"berth/tmux"
)

// A screen that was moved is what a fresh repaint shows, cell by cell and with all
// modes, whatever the program and the sizes.
func TestPictureOfRealPrograms(t *testing.T) {
	type step struct{ keys, shows string } // shows: on the terminal, when the keys are done
	for _, row := range []struct {
		name   string
		argv   []string // nil: the demo
		steps  []step
		settle string // keys that bring it to the same lines, whatever it went through
		moves  bool   // its screen changes by itself: cells are compared while it is stopped
	}{
		{"less", []string{"less", "+40", "FILE"}, []step{{"", "row 45 "}, {"j j j", "row 60 "}, {"/ 1 2 3 Enter", "row 123 "}}, "g", false},
		{"vim", []string{"vim", "-N", "-u", "NONE", "-i", "NONE", "-n", "-c", "set bg=dark mouse=a number hlsearch cursorline | syntax on", "FILE"},
			[]step{{"", "row 3 "}, {"/ 7 7 Enter", "row 77 "}, {"o n e w", "new"}}, "Escape z t", false},
		{"htop", []string{"htop", "--no-color", "--delay=100"}, []step{{"", "F1Help"}}, "", true},
		{"demo", nil, []step{{"", "You said"}, {"/ f l o o d Space 1 Enter", "You said"}, {"a n o t h e r Enter", "You said: another"}, {"h a l f", "half"}}, "", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			file := filepath.Join(w.cwd, "text.c")
			text := ""
			for i := range 200 {
				text += fmt.Sprintf("row %d \"some\" /* text */ x%d; \t← ünï 漢字 →\n", i+1, i)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			name, prompt := "demo", []string{"--", "hello"}
			if row.argv != nil {
				if _, err := exec.LookPath(row.argv[0]); err != nil {
					t.Fatal("needed for this test:", err) // .ci/need installs it
				}
				for i, a := range row.argv {
					if a == "FILE" {
						row.argv[i] = file
					}
				}
				name, prompt = "program", nil
				w.config(fmt.Sprintf("[provider.program]\nstart = %s\nnative_id = \"none\"\nready = \"start\"\n", tomlArray(row.argv)))
			}
			r := w.run(append([]string{"new", name, "--json"}, prompt...)...).want(0).record()
			mirror := *w.tmuxHost(r.ID).Pane
			s := w.newScratch()
			own := tmux.New(tmux.Options{Socket: r.Tmux.Socket, Env: w.env})
			same := func(what string, x terminal) {
				t.Helper()
				w.compared(what, func() (bool, string) {
					is, want := x.shows(), shown(t, own, mirror)
					return is == want, is + "the pane of the session shows:\n" + want
				})
			}
			do := func(x terminal, steps []step) {
				t.Helper()
				for _, st := range steps {
					if st.keys != "" {
						x.keys(strings.Fields(st.keys)...)
					}
					x.waitFor(st.shows)
				}
			}
			a := s.open(80, 24, berthBin, "open", r.ID)
			do(a, row.steps)
			want := row.steps[len(row.steps)-1].shows

			for _, size := range [][2]int{{100, 30}, {60, 20}, {60, 20}, {80, 24}} {
				b := s.open(size[0], size[1], berthBin, "move", r.ID)
				if status := a.ended(); status != "0" {
					t.Fatalf("the old place ends %s\n%s", status, a.shows())
				}
				b.waitFor(want)
				if !row.moves {
					same(fmt.Sprintf("the picture at %v", size), b)
				}
				// Stopped it cannot repaint: what is shown next is the picture alone.
				w.freeze(r.Client.PID)
				c := s.open(size[0], size[1], berthBin, "move", r.ID)
				b.ended()
				same(fmt.Sprintf("the picture of a stopped program at %v", size), c)
				c.waitFor(want)
				kill(t, r.Client.PID, syscall.SIGCONT)
				a = c
			}
			if row.argv == nil || row.moves {
				return
			}
			fresh := s.open(80, 24, append([]string{"/usr/bin/env", "TERM=xterm-256color"}, row.argv...)...) // never moved
			do(fresh, row.steps)
			for _, size := range [][2]int{{100, 30}, {60, 20}, {80, 24}} {
				fresh.resize(size[0], size[1])
				w.eventually("the size", func() bool { return strings.HasPrefix(fresh.shows(), fmt.Sprintf("%dx%d ", size[0], size[1])) })
			}
			for _, x := range []terminal{a, fresh} { // how far they scrolled depends on the sizes on the way
				x.keys(strings.Fields(row.settle)...)
			}
			w.compared("it shows what a program does that was never moved", func() (bool, string) {
				is, want := cells(a.shows()), cells(fresh.shows())
				return is == want, is + "never moved:\n" + want
			})
		})
	}
}

// cells is what is shown without the line that describes the terminal.
func cells(shows string) string { _, c, _ := strings.Cut(shows, "\n"); return c }
