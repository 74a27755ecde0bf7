package screen

import (
	"slices"
	"strings"
	"testing"
)

// A painted picture shows its rows and leaves the terminal in the modes asked for.
func TestPaintDrawsAndRestores(t *testing.T) {
	for _, test := range []struct {
		name string
		m    Modes
	}{
		{"defaults", Modes{}},
		{"a full-screen agent", Modes{AltScreen: 1049, CursorHidden: true, Mouse: 1003, MouseEncoding: 1006, BracketedPaste: true, Title: "agent"}},
		{"what bends drawing", Modes{Origin: true, Insert: true, NoWrap: true, G0: '0'}},
	} {
		t.Run(test.name, func(t *testing.T) {
			rows := [][]byte{[]byte("first"), nil, []byte("\x1b[31mthird\x1b[m  "), []byte("0123456789")}
			b := test.m.Paint(rows, 3, 2)
			var s Scanner
			out, queries := s.Feed(b)
			if len(queries) > 0 || !slices.Equal(out, b) {
				t.Fatalf("a picture asks: %v", queries)
			}
			if got := s.Modes(); got != test.m {
				t.Errorf("modes %+v\nwant  %+v", got, test.m)
			}
			text := Text(b, 10, 4)
			for i, want := range []string{"first", "", "third", "0123456789"} {
				if i >= len(text) && want != "" || i < len(text) && strings.TrimRight(text[i], " ") != want {
					t.Errorf("row %d of %q, want %q", i, text, want)
				}
			}
			if !strings.HasSuffix(string(b), "\x1b[3;4H") {
				t.Errorf("the cursor is not set last: %q", b[len(b)-12:])
			}
		})
	}
}
