package screen

import (
	"bytes"
	"testing"
)

func TestPasteCannotEndItself(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "",
		"two\nlines\r\n\t\x1b[31m": "two\nlines\r\n\t\x1b[31m",
		"a\x1b[201~rm\r":           "a[201~rm\r",
		"\x1b[200~":                "[200~",
		"\x1b\x1b[201~[201~":       "[201~[201~",
		"\x1b\x1b\x1b[201~":        "[201~",
		"\x1b[20\x1b[201~1~":       "\x1b[20[201~1~",
		"[20[201~":                 "[20[201~",
	} {
		if got := string(Paste([]byte(in), true)); got != "\x1b[200~"+want+"\x1b[201~" {
			t.Errorf("%q: %q, want %q inside", in, got, want)
		}
	}
	if got := string(Paste([]byte("a\nb\x1b[201~"), false)); got != "a\rb\x1b[201~" {
		t.Errorf("not bracketed: %q", got)
	}
}

func FuzzPaste(f *testing.F) {
	f.Add([]byte("a\x1b\x1b[201~[201~\x1b"))
	f.Fuzz(func(t *testing.T, text []byte) {
		out := Paste(text, true)
		inside := out[len(pasteOpen) : len(out)-len(pasteClose)]
		if bytes.Contains(inside, []byte(pasteClose)) || bytes.Contains(inside, []byte(pasteOpen)) {
			t.Fatalf("%q", out)
		}
		noESC := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte{esc}, nil) }
		if !bytes.Equal(noESC(inside), noESC(text)) {
			t.Fatalf("%q became %q", text, inside)
		}
		// A host reading it sees one paste and nothing else.
		var host Input
		if res := host.Feed(out); !bytes.Equal(res.Keys, out) || host.PasteOpen() || host.Held() {
			t.Fatalf("%q reads as %+v", out, res)
		}
	})
}
