package tmux

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"berth/internal/screen"
	"berth/internal/session"
)

// A picture of a pane, painted into another pane, looks the same, cell by cell.
func TestAPaintedPictureLooksTheSame(t *testing.T) {
	s := newServer(t)
	ctx := context.Background()
	dir := t.TempDir()
	show := func(name string, bytes []byte) Pane {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		id := session.NewID()
		p, err := s.NewSession(ctx, Spec{Name: Name(id), ID: id, Cwd: dir, Width: 60, Height: 12,
			Argv: []string{"sh", "-c", `stty raw -echo; cat "$1"; : >"$1.done"; exec sleep 1000`, "sh", file}})
		if err != nil {
			t.Fatal(err)
		}
		waitFor(t, "it is drawn", func() bool { _, err := os.Stat(file + ".done"); return err == nil })
		return p
	}
	var full bytes.Buffer
	full.WriteString("\x1b[?1049h\x1b[2J\x1b[?25l\x1b[44m\x1b[2J")
	for i := range 12 {
		full.WriteString("\x1b[" + string(rune('1'+i%9)) + ";" + "1H\x1b[3" + string(rune('1'+i%7)) + "mrow\x1b[7m inverse \x1b[m wide 漢字 \x1b[1;4mbold\x1b[m")
	}
	full.WriteString("\x1b[5;1H\x1b[42m" + string(bytes.Repeat([]byte("x"), 60)) + "\x1b[m\x1b[3;7H")
	for name, b := range map[string][]byte{
		"a full screen with colours": full.Bytes(),
		"lines":                      []byte("one\r\ntwo\r\n\x1b[31mthree"),
		"scrolled":                   bytes.Repeat([]byte("line after line\r\n"), 40),
		"nothing":                    nil,
	} {
		t.Run(name, func(t *testing.T) {
			a := show(session.NewID(), b)
			var sc screen.Scanner
			sc.Feed(b)
			var pic Picture
			waitFor(t, "tmux has drawn it", func() bool { // what was written may still be on its way
				var err error
				if pic, err = s.Picture(ctx, a.ID); err != nil {
					t.Fatal(err)
				}
				c := show(session.NewID(), sc.Modes().Paint(pic.Rows, pic.X, pic.Y))
				again, err := s.Picture(ctx, c.ID)
				if err != nil {
					t.Fatal(err)
				}
				now, err := s.Picture(ctx, a.ID)
				if err != nil {
					t.Fatal(err)
				}
				same := len(again.Rows) == len(now.Rows) && again.X == now.X && again.Y == now.Y
				for i := 0; same && i < len(now.Rows); i++ {
					same = bytes.Equal(again.Rows[i], now.Rows[i])
				}
				return same
			})
		})
	}
}
