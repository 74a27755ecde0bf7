package screen

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestTextDraws(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"lines", "one\r\ntwo\r\n", "one|two"},
		{"carriage return overwrites", "12345\rab", "ab345"},
		{"backspace and tab", "ab\bc\td", "ac      d"},
		{"wrap and scroll", "0123456789ABCDEFGHIJ\r\n1\r\n2", "ABCDEFGHIJ|1|2"},
		{"the last column waits", "0123456789\r\nx", "0123456789|x"},
		{"place", "\x1b[2;3Hx\x1b[Ay\x1b[Bz\x1b[Ga\x1b[3dq\x1b[9Ct", "   y|a x z| q       t"},
		{"erase line", "abcdef\x1b[3G\x1b[K\r\nabc\x1b[1K\x1b[5Gx", "ab|    x"},
		{"erase screen", "abc\r\ndef\x1b[2J\x1b[Hx", "x"},
		{"erase below", "abc\r\ndef\r\nghi\x1b[2;2H\x1b[J", "abc|d"},
		{"alternate screen hides", "main\x1b[?1049h\x1b[Halt", "alt"},
		{"and gives back", "main\x1b[?1049h\x1b[Halt\x1b[?1049l!", "main!"},
		{"wide", "日本x\x1b[Dy\x1b[Gz", "z 本y"},
		{"attributes and titles are nothing", "\x1b]0;title\aa\x1b[1;31mb\x1b(B\x1b[mc", "abc"},
		{"margins", "1\r\n2\r\n3\x1b[2;3r\x1b[3;1H\nx", "1|3|x"},
		{"reverse index", "1\r\n2\x1b[H\x1bMtop", "top|1|2"},
		{"insert and delete lines", "1\r\n2\r\n3\x1b[2;1H\x1b[Lx\x1b[H\x1b[M", "x|2"},
		{"index and next line", "ab\x1bDc\x1bEd", "ab|  c|d"},
		{"saved cursor", "a\x1b7bc\x1b8x\x1b[sy\x1b[uz", "axz"},
		{"full reset", "a\x1b[?1049hb\x1bcd", "d"},
		{"scroll up and down", "1\r\n2\r\n3\x1b[S\x1b[2T", "||2"},
		{"erase characters", "abcd\x1b[2G\x1b[2X", "a  d"},
		{"erase above", "abc\r\ndef\x1b[2G\x1b[1J", "|  f"},
		{"lines up and down", "\x1b[2Eb\x1b[2Fa", "a||b"},
		{"marks take no cell", "e\u0301x", "ex"},
		{"cut short", "ab\x1b[3", "ab"},
		{"blank above", "\x1b[3;1Hx", "||x"},
	} {
		if got := strings.Join(Text([]byte(c.in), 10, 3), "|"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if Text([]byte("x"), 0, 5) != nil || Text(nil, 80, 24) != nil {
		t.Error("no screen or no text, but lines")
	}
}

func FuzzText(f *testing.F) {
	for _, s := range streams {
		f.Add([]byte(s), uint8(20), uint8(5))
	}
	f.Add([]byte("日\x1b[1;1H\x1b[999999999S\x1b[Lx\x1b[5;2r\x1b[X"), uint8(1), uint8(1))
	f.Fuzz(func(t *testing.T, in []byte, cols, rows uint8) {
		for _, line := range checked(t, in, int(cols), int(rows)) {
			if strings.ContainsFunc(line, unicode.IsControl) || !utf8.ValidString(line) || strings.HasSuffix(line, " ") {
				t.Fatalf("%q", line)
			}
		}
		// What is plain is drawn as a typewriter would.
		var plain []byte
		for _, b := range in {
			if b >= 0x20 && b < 0x7f {
				plain = append(plain, b)
			} else if b == '\n' {
				plain = append(plain, "\r\n"...)
			}
		}
		if cols > 0 && rows > 0 {
			if got, want := checked(t, plain, int(cols), int(rows)), typed(plain, int(cols), int(rows)); !slices.Equal(got, want) {
				t.Fatalf("%q\nwant %q", got, want)
			}
		}
	})
}

func checked(t *testing.T, in []byte, cols, rows int) []string {
	lines := Text(in, cols, rows)
	if len(lines) > rows {
		t.Fatalf("%d lines of %d", len(lines), rows)
	}
	for _, l := range lines {
		if n := utf8.RuneCountInString(l); n > cols {
			t.Fatalf("%q is %d of %d", l, n, cols)
		}
	}
	return lines
}

func typed(plain []byte, cols, rows int) []string {
	var lines []string
	for l := range bytes.SplitSeq(plain, []byte("\r\n")) {
		for len(l) > cols {
			lines = append(lines, string(l[:cols]))
			l = l[cols:]
		}
		lines = append(lines, string(l))
	}
	lines = lines[max(0, len(lines)-rows):]
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
