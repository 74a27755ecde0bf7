package session

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestIDs(t *testing.T) {
	seen := map[string]bool{}
	letters := map[rune]bool{}
	for range 2000 {
		id := NewID()
		if !IsID(id) || !ValidName(id) || NormalizeID(strings.ToUpper(id)) != id || seen[id] {
			t.Fatalf("id %q", id)
		}
		seen[id] = true
		for _, r := range id {
			letters[r] = true
		}
	}
	if len(letters) != len(crockford) {
		t.Errorf("%d letters of %d are used", len(letters), len(crockford))
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		name string
		ok   bool
	}{
		{"claude", true}, {"my-agent_2.0", true}, {strings.Repeat("a", 64), true}, {"-x", true}, {"..x", true},
		{"", false}, {".", false}, {"..", false}, {strings.Repeat("a", 65), false}, {"a/b", false}, {"a b", false},
		{"a\n", false}, {"ä", false}, {"a:b", false}, {"a\x00", false},
	} {
		if got := ValidName(c.name); got != c.ok {
			t.Errorf("%q: %v", c.name, got)
		}
	}
}

func TestTitles(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"as it is", "Fix the flaky test", "Fix the flaky test"},
		{"one line", "first\nsecond\r\n\tthird", "first second third"},
		{"no control characters", "red\x1b[31mtext\x00\x7f", "red [31mtext"},
		{"no bytes that are no text", "a\xffb", "a�b"},
		{"nothing", " \n\t ", ""},
		{"80 characters", strings.Repeat("é", 80), strings.Repeat("é", 80)},
		{"81 characters", strings.Repeat("é", 81), strings.Repeat("é", 79) + "…"},
		{"no blank before the ellipsis", strings.Repeat("a", 78) + " bcd", strings.Repeat("a", 78) + "…"},
		{"line separators", "a\u2028b\u0085c", "a b c"},
	} {
		if got := Title(c.in); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestStateOf(t *testing.T) {
	for _, c := range []struct {
		name string
		e    Evidence
		want State
	}{
		{"completed, whatever else", Evidence{Closed: true, Ready: true, Live: true}, StateClosed},
		{"ready, though its client lives", Evidence{Ready: true, Live: true}, StateReady},
		{"a live client", Evidence{Live: true, Interrupted: true}, StateActive},
		{"ended by nobody's wish", Evidence{Interrupted: true}, StateInterrupted},
		{"a review without a client", Evidence{Kind: Flow}, StateWaiting},
		{"a review whose client was interrupted", Evidence{Kind: Flow, Interrupted: true}, StateInterrupted},
		{"quit by the person", Evidence{Kind: Conversation}, StateUnknown},
	} {
		if got := StateOf(c.e); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

func TestActions(t *testing.T) {
	for _, c := range []struct {
		name           string
		s              Situation
		open, complete string // why not; "" can be done
	}{
		{"alive and free", Situation{State: StateActive}, "", ""},
		{"held", Situation{State: StateActive, Held: "terminal /dev/pts/1"}, "held by terminal /dev/pts/1", ""},
		{"orphaned", Situation{State: StateActive, Orphaned: true, SessionID: "abcd"}, "terminal is gone", ""},
		{"evidence unreadable", Situation{State: StateUnknown, Unknown: "cannot read x"}, "cannot read x", "cannot read x"},
		{"completed", Situation{State: StateClosed, Unknown: "cannot read x"}, "completed", "already complete"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, a := range Actions(c.s) {
				want, known := map[string]string{"open": c.open, "complete": c.complete}[a.Kind]
				if !known {
					continue // of a later rule; its own test has it
				}
				if (a.Unavailable == nil) != (want == "") || a.Unavailable != nil && !strings.Contains(*a.Unavailable, want) {
					t.Errorf("%s: %v, want %q", a.Kind, a.Unavailable, want)
				}
				if a.Label == "" || a.Help == "" {
					t.Errorf("%s says nothing", a.Kind)
				}
			}
		})
	}
}

func TestErrorsKeepClassHintAndCause(t *testing.T) {
	inner := Errorf(Refused, "held by %d", 7).WithHint("berth open --move %s", "x")
	outer := Errorf(Unknown, "cannot go on: %w", inner)
	for _, c := range []struct {
		name  string
		err   error
		class Class
		hint  string
	}{
		{"alone", inner, Refused, "berth open --move x"},
		{"outermost class, first hint", outer, Unknown, "berth open --move x"},
		{"wrapped by others", fmt.Errorf("so: %w", inner), Refused, "berth open --move x"},
		{"somebody else's", fs.ErrExist, Failed, ""},
	} {
		if ClassOf(c.err) != c.class || HintOf(c.err) != c.hint {
			t.Errorf("%s: class %d, hint %q", c.name, ClassOf(c.err), HintOf(c.err))
		}
	}
	if !errors.Is(Errorf(Failed, "cannot: %w", fs.ErrExist), fs.ErrExist) || !strings.Contains(outer.Error(), "held by 7") {
		t.Error("the cause is lost")
	}
	defer func() {
		if recover() == nil {
			t.Error("nil has a class")
		}
	}()
	ClassOf(nil)
}

func FuzzTitle(f *testing.F) {
	for _, s := range []string{"", "a", "\x1b[31m", "a\xff", strings.Repeat("é ", 90), "\u202e", "a\u2028b", strings.Repeat(" x", 80)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Title(s)
		if utf8.RuneCountInString(got) > MaxTitle || !utf8.ValidString(got) || strings.TrimSpace(got) != got {
			t.Fatalf("%q", got)
		}
		for _, r := range got {
			if unicode.IsControl(r) || unicode.IsSpace(r) && r != ' ' {
				t.Fatalf("%q has %q", got, r)
			}
		}
		if Title(got) != got {
			t.Fatalf("%q is not a title as it is", got)
		}
	})
}

// What names a thing can stand in a path, and what people type for an id is an id or
// is refused.
func FuzzNames(f *testing.F) {
	for _, s := range []string{"", ".", "..", "a", "7k3fq2m9x0abcdef", "7K3FQ2M9XOABCDEF", "İ", "a\nb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if ValidName(s) && (len(s) == 0 || len(s) > 64 || strings.ContainsAny(s, "/\x00\n ") || s == "." || s == "..") {
			t.Fatalf("%q is a name", s)
		}
		n := NormalizeID(s)
		if NormalizeID(n) != n {
			t.Fatalf("%q: %q: %q", s, n, NormalizeID(n))
		}
		if IsID(s) && n != s {
			t.Fatalf("id %q became %q", s, n)
		}
	})
}
