package screen

import (
	"strings"
	"testing"
)

func modesAfter(in string) Modes {
	_, _, s := feed([]byte(in))
	return s.Modes()
}

func TestModesFollowTheStream(t *testing.T) {
	stack := func(flags ...uint8) (k KittyStack) {
		k.n = uint8(len(flags))
		copy(k.flags[1:], flags)
		return k
	}
	for in, want := range map[string]Modes{
		"\x1b[?1049h": {AltScreen: 1049}, "\x1b[?47h": {AltScreen: 47}, "\x1b[?1049h\x1b[?1047h": {AltScreen: 1049}, "\x1b[?1049h\x1b[?1047l": {},
		"\x1b[?25l": {CursorHidden: true}, "\x1b[?25l\x1b[?25h": {}, "\x1b[?1h": {AppCursor: true}, "\x1b[?1l": {},
		"\x1b=": {AppKeypad: true}, "\x1b=\x1b>": {}, "\x1b[?66h": {AppKeypad: true}, "\x1b[?7l": {NoWrap: true}, "\x1b[?6h": {Origin: true},
		"\x1b[4h": {Insert: true}, "\x1b[?4h": {}, "\x1b[25l": {}, "\x1b[?5h": {ReverseScreen: true},
		"\x1b[?2004;1004h": {BracketedPaste: true, Focus: true},
		"\x1b[?1000h\x1b[?1002h\x1b[?1003h\x1b[?1006h": {Mouse: 1003, MouseEncoding: 1006}, "\x1b[?1003h\x1b[?1000l": {}, "\x1b[?9;1015h": {Mouse: 9, MouseEncoding: 1015},
		"\x1b[?2026h": {Sync: true}, "\x1b[?2031h\x1b[?2048h": {ColorScheme: true, InBandResize: true},
		"\x1b[>1u": {KittyMain: stack(1)}, "\x1b[>1u\x1b[>5u\x1b[<u": {KittyMain: stack(1)}, "\x1b[>1u\x1b[=2;2u": {KittyMain: stack(3)}, "\x1b[>7u\x1b[=2;3u": {KittyMain: stack(5)},
		"\x1b[>1u\x1b[<9u": {}, "\x1b[?1049h\x1b[>1u": {AltScreen: 1049, KittyAlt: stack(1)}, "\x1b[>3u\x1b[?1049h\x1b[>1u\x1b[<u\x1b[?1049l": {KittyMain: stack(3)},
		"\x1b[>4;2m": {ModifyOtherKeys: 2}, "\x1b[>4;2m\x1b[>4m": {}, "\x1b[>4;1m\x1b[>4n": {}, "\x1b[>1;2m": {},
		"\x1b[5 q": {CursorStyle: 5}, "\x1b[5 q\x1b[ q": {}, "\x1b[9 q": {},
		"\x1b]0;both\a": {Title: "both"}, "\x1b]2;✳ Claude Code\x1b\\": {Title: "✳ Claude Code"}, "\x1b]1;icon\a": {}, "\x1b]2;a\tb\xff\u0085\a": {Title: "ab"},
		"\x1b]2;" + strings.Repeat("é", 300) + "\a": {Title: strings.Repeat("é", 128)}, "\x1b]2;never ends\x18": {},
		"\x1b(0": {G0: '0'}, "\x1b(0\x1b(B": {}, "\x1b)A": {G1: 'A'}, "\x1b(%6": {},
		"\x1b]2;t\a\x1b[?1049h\x1b[>1u\x1b[?25l\x1bc":       {Title: "t"},
		"\x1b[?1049h\x1b[?25l\x1b[?1h\x1b[?7l\x1b(0\x1b[!p": {AltScreen: 1049},
	} {
		if got := modesAfter(in); got != want {
			t.Errorf("%q:\n got %+v\nwant %+v", in, got, want)
		}
	}
}

func TestRestoreAndResetAreUndoneAndIdempotent(t *testing.T) {
	many := strings.Repeat("\x1b[>1u", 12)
	for _, in := range append(streams, "", many, "\x1b[=3u"+many+"\x1b[?1049h"+many, "\x1b[?1049h\x1b[>1u\x1b[?1049l", "\x1b[>5u\x1b[?47h",
		"\x1b[?5;6h\x1b[?7l\x1b[4h\x1b[?25l\x1b[3 q\x1b(0\x1b)A\x1b[>4;2m\x1b]2;t\a\x1b[?1003;1016;2031;2048;2026h") {
		m := modesAfter(in)
		restore, reset := string(m.Restore()), string(m.Reset())
		if got := modesAfter(restore); got != m {
			t.Errorf("%q: restore %q\n got %+v\nwant %+v", in, restore, got, m)
		}
		if got := modesAfter(restore + restore); got != m {
			t.Errorf("%q: restore twice\n got %+v\nwant %+v", in, got, m)
		}
		for _, s := range []string{restore + reset, restore + reset + reset, in + reset, reset} {
			out, qs, sc := feed([]byte(s))
			if got := sc.Modes(); len(qs) > 0 && s != in+reset || got != (Modes{Title: got.Title}) || !sc.Ground() {
				t.Errorf("%q leaves %+v (%q)", s, got, out)
			}
		}
		for _, harm := range []string{"\x1b[2J", "\x1b[3J", "\x1bc", "\x1b]0", "\x1b]2"} {
			if strings.Contains(reset, harm) {
				t.Errorf("reset %q has %q", reset, harm)
			}
		}
	}
	if b := (Modes{}).Restore(); b != nil {
		t.Errorf("default modes restore as %q", b)
	}
}
