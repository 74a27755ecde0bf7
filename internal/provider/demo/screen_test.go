package demo

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// together joins neighbouring text events, which reads may cut anywhere.
func together(events []event) (out []event) {
	for _, e := range events {
		if n := len(out); e.key == keyText && n > 0 && out[n-1].key == keyText {
			out[n-1].text += e.text
			continue
		}
		out = append(out, e)
	}
	return out
}

func TestKeys(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want string // events as key:text
	}{
		{"aé漢🙂", "1:aé漢🙂"},
		{"a\rb\n", "1:a 3: 1:b 4:"},
		{"\x1b[A\x1bOB\x1b[1;5C\x1b[H\x1b[4~\x1b[3;2~", "8: 9: 7: 10: 11: 15:"},
		{"\x1b[200~one\r\ntwo\rthree\x1b[A\x1b[201~x", "2:one\ntwo\nthree\x1b[A 1:x"},
		{"\x1b]11;rgb:1/2/3\x07a\x1b]0;t\x1b\\b\x1bP1+r\x1b\\c", "1:abc"},
		{"\x1b[?62;4c\x1b[12;3R\x1b[Ia", "1:a"},
		{"\x1bxa", "1:a"},
		{"a\x9b\xffb", "1:a��b"},
		{"\x00\x07\u0085", ""},
	} {
		for size := 1; size <= len(tc.in); size++ {
			var d decoder
			var got []event
			for i := 0; i < len(tc.in); i += size {
				got = append(got, d.feed([]byte(tc.in[i:min(i+size, len(tc.in))]))...)
			}
			var said []string
			for _, e := range together(append(got, d.flush()...)) {
				said = append(said, fmt.Sprintf("%d:%s", e.key, e.text))
			}
			if s := strings.Join(said, " "); s != tc.want {
				t.Errorf("%q in reads of %d: got %q, want %q", tc.in, size, s, tc.want)
			}
		}
	}
}

// FuzzKeys checks that nothing hangs in the decoder and that how input is cut into
// reads does not change what it means.
func FuzzKeys(f *testing.F) {
	f.Add("a\x1b[A\x1b[200~x\r\n\x1b[201~é\x1b]0;t\x07")
	f.Add("\x1b\x1b[\x1bO\x1bP\xff\xc3")
	f.Fuzz(func(t *testing.T, s string) {
		var whole, bytewise decoder
		want := whole.feed([]byte(s))
		var got []event
		for i := range len(s) {
			got = append(got, bytewise.feed([]byte{s[i]})...)
		}
		if !reflect.DeepEqual(together(got), together(want)) {
			t.Errorf("%q: byte by byte %v, whole %v", s, got, want)
		}
		if whole.flush(); whole.pending() {
			t.Errorf("%q: %q is left", s, whole.buf)
		}
	})
}

func TestWrap(t *testing.T) {
	for _, tc := range []struct {
		in   string
		w    int
		want []string
	}{
		{"", 5, []string{""}},
		{"one two three", 7, []string{"one two", "three"}},
		{"one two three", 8, []string{"one two", "three"}},
		{"onetwothree", 4, []string{"onet", "woth", "ree"}},
		{"a onetwothree", 4, []string{"a", "onet", "woth", "ree"}},
		{"漢字漢字", 5, []string{"漢字", "漢字"}},
		{"a\n\nb", 5, []string{"a", "", "b"}},
		{"four five", 4, []string{"four", "five"}},
		{"four ", 4, []string{"four"}},
		{"e\u0301e\u0301e", 2, []string{"e\u0301e\u0301", "e"}},
	} {
		if got := wrap(tc.in, tc.w); !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%q in %d: got %q, want %q", tc.in, tc.w, got, tc.want)
		}
	}
}

func FuzzWrap(f *testing.F) {
	f.Add("one two  three 漢字\n\x1b[0m\te\u0301", 7)
	f.Fuzz(func(t *testing.T, s string, w int) {
		w = max(2, w%200)
		text := clean(s)
		rows := wrap(text, w)
		for _, r := range rows {
			if width(r) > w || strings.ContainsAny(r, "\n\r\x1b") {
				t.Errorf("%q in %d: row %q", s, w, r)
			}
		}
		blank := strings.NewReplacer(" ", "", "\n", "")
		if got, want := blank.Replace(strings.Join(rows, "")), blank.Replace(text); got != want {
			t.Errorf("%q in %d: %q became %q", s, w, want, got)
		}
		if c := cut(text, w); !strings.Contains(text, "\n") && width(c) > w {
			t.Errorf("%q cut to %d is %q", s, w, c)
		}
	})
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestFramesFitEverySize(t *testing.T) {
	v := view{title: "漢字 a long title of a conversation", id: "0123456789", model: "m", cwd: "~/x", color: true, state: "idle", hint: "hint"}
	for i := range 30 {
		v.entries = append(v.entries, entry{fromUser, strings.Repeat("word ", i)}, entry{fromAgent, strings.Repeat("漢", i)}, entry{fromNote, "n"})
	}
	v.input.insert("some text 漢字\tthat is\nlonger than the line " + strings.Repeat("x", 50))
	for _, scroll := range []int{0, 7, 1 << 20} {
		for _, h := range []int{1, 2, 3, 4, 5, 7, 8, 9, 24, 60} {
			for _, w := range []int{7, 8, 12, 19, 20, 21, 33, 80, 132} {
				for _, pos := range []int{0, 3, len(v.input.text) / 2, len(v.input.text)} {
					v.scroll, v.input.pos = scroll, pos
					f := v.draw(w, h)
					if len(f.rows) != h || f.row < 0 || f.row >= h || f.col < 0 || f.col >= w {
						t.Fatalf("%dx%d: %d rows, cursor %d,%d", w, h, len(f.rows), f.row, f.col)
					}
					for _, r := range f.rows {
						if bare := sgr.ReplaceAllString(r, ""); width(bare) > w || strings.ContainsAny(bare, "\x1b\n") {
							t.Fatalf("%dx%d: row %q of %d cells", w, h, bare, width(bare))
						}
					}
				}
			}
		}
	}
}

func TestScrollShowsTheBeginning(t *testing.T) {
	v := view{state: "idle"}
	for i := range 50 {
		v.entries = append(v.entries, entry{fromNote, fmt.Sprintf("line %d", i)})
	}
	v.scroll = 1000
	if f := v.draw(40, 10); !strings.Contains(f.rows[2], "line 0") || v.scroll != 45 {
		t.Errorf("scroll %d, rows %q", v.scroll, f.rows)
	}
}

func TestAnswers(t *testing.T) {
	if got := answer("Help!", 1); got != help {
		t.Errorf("got %q", got)
	}
	if got := answer("so, what?", 3); got != "You said: so, what?\nWhat is next?" {
		t.Errorf("got %q", got)
	}
	if got := answer("a\nb", 3); !strings.HasPrefix(got, "That was long: 3 characters in 2 lines, sha256 ") {
		t.Errorf("got %q", got)
	}
}

func FuzzHistory(f *testing.F) {
	f.Add("{\"id\":\"x\"}\n{\"role\":\"user\",\"text\":\"a\"}\n{\"role\":\"assis")
	f.Fuzz(func(t *testing.T, s string) {
		for _, m := range decode([]byte(s)) {
			if !utf8.ValidString(m.Text) || m.Role != fromUser && m.Role != fromAgent {
				t.Errorf("%q: %+v", s, m)
			}
		}
	})
}

func TestTornHistoryGoesOn(t *testing.T) {
	p := newPlace(t)
	getenv := func(name string) string { return map[string]string{"DEMO_AGENT_HOME": p.home}[name] }
	h := newHistory("x", "/", options{}, getenv)
	for _, text := range []string{"one", "two"} {
		if _, err := h.add(fromUser, text); err != nil {
			t.Fatal(err)
		}
	}
	tear(t, h.path)
	h, past, err := open(options{resume: "x"}, getenv)
	if err != nil || len(past) != 1 {
		t.Fatalf("%+v, %v", past, err)
	}
	if first, err := h.add(fromAgent, "three"); first || err != nil {
		t.Errorf("first %v, %v", first, err)
	}
	if got := fmt.Sprint(p.history("x")); got != "[user: one assistant: three]" {
		t.Errorf("history %s", got)
	}
}
