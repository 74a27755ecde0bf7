package screen

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

func TestTailBeginsAtASafePlace(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		size           int
	}{
		{"everything fits", "one\x1b[31mtwo", "one\x1b[31mtwo", 16},
		{"after a line's end", "0123456789ab\ncdefghijklmnop", "cdefghijklmnop", 16},
		{"no line's end near", "0123456789abcdefghi\nkl", "6789abcdefghi\nkl", 16},
		{"inside a sequence", "0123\x1b[31;32;33mabcdefg", "abcdefg", 16},
		{"inside a character", "0123\u65e5abcdefghijklmn", "abcdefghijklmn", 16},
		{"a line's end inside a string is none", "0123\x1bP\nxyz\nabcdefghijklmnop", "", 16},
		{"but after the string", "0123\x1bP\nabc\n\x1b\\\n0123456789ab", "0123456789ab", 16},
		{"without what acts", "a\ab\x1b]52;c;x\ac\x1b]9;", "ab\x1b\\c\x1b]9;", 0},
	} {
		tail := &Tail{capacity: c.size}
		for _, b := range []byte(c.in) {
			tail.Write([]byte{b})
		}
		if tail.Whole() != (c.size == 0 || len(c.in) <= c.size) {
			t.Errorf("%s: whole %v", c.name, tail.Whole())
		}
		if got := string(tail.Bytes()); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func FuzzTail(f *testing.F) {
	for _, s := range streams {
		f.Add([]byte(s), uint8(40), uint8(7))
	}
	acting := regexp.MustCompile(`\x1b\]0*(?:9|52|99|777)(?:;[^\x1b]*)?\x1b\\|\x07`)
	f.Fuzz(func(t *testing.T, in []byte, size, step uint8) {
		tail, whole := &Tail{capacity: int(size) + 1}, &Tail{capacity: int(size) + 1}
		for p := in; len(p) > 0; {
			n := min(int(step)+1, len(p))
			tail.Write(p[:n])
			p = p[n:]
		}
		whole.Write(in)
		got := tail.Bytes()
		if !bytes.Equal(got, whole.Bytes()) {
			t.Fatalf("%q in steps, %q whole", got, whole.Bytes())
		}
		// It is a suffix of the input, but for what acts, from a place that a
		// Scanner calls ground, and lacks no more than that needs.
		kept := in[max(0, len(in)-int(size)-1):]
		for i := 0; i <= len(kept); i++ {
			_, _, s := feed(in[:len(in)-len(kept)+i])
			if s.Ground() && sameDrawing(got, kept[i:], acting) {
				return
			}
		}
		_, _, s := feed(in)
		if s.Ground() || len(got) > len(kept) {
			t.Fatalf("%q is no safe end of %q", got, in)
		}
	})
}

func sameDrawing(a, b []byte, acting *regexp.Regexp) bool {
	strip := func(p []byte) string {
		s := strings.ReplaceAll(latin1(p), "\a", st) // as ends of strings, else as nothing
		return strings.ReplaceAll(acting.ReplaceAllString(s, ""), st, "")
	}
	return strip(a) == strip(b)
}
