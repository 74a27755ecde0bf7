package screen

import "testing"

func TestAnswers(t *testing.T) {
	term := Terminal{
		Cols: 100, Rows: 30, XPixel: 900, YPixel: 540, Dark: true, Version: "1.2",
		Background: RGB{0x1e, 0x1e, 0x2e}, Foreground: RGB{0xcd, 0xd6, 0xf4}, Cursor: RGB{0xf5, 0xe0, 0xdc},
		Modes: modesAfter("\x1b[?1049h\x1b[>5u\x1b[?2004h\x1b[>4;1m\x1b[4 q\x1b[?1006h\x1b[4h"),
	}
	for in, want := range map[string]string{
		"\x1b[c": "\x1b[?62;22c", "\x1b[>c": "\x1b[>41;380;0c", "\x1b[=c": "\x1bP!|00000000\x1b\\", "\x1b[>q": "\x1bP>|berth(1.2)\x1b\\",
		"\x1b[5n": "\x1b[0n", "\x1b[?996n": "\x1b[?997;1n", "\x1b[?15n": "", "\x1b[6n": "", "\x1b[?6n": "",
		"\x1b[?2004$p": "\x1b[?2004;1$y", "\x1b[?2026$p": "\x1b[?2026;2$y", "\x1b[?25$p": "\x1b[?25;1$y", "\x1b[?7$p": "\x1b[?7;1$y",
		"\x1b[?1049$p": "\x1b[?1049;1$y", "\x1b[?1006$p": "\x1b[?1006;1$y", "\x1b[?1000$p": "\x1b[?1000;2$y", "\x1b[?2027$p": "\x1b[?2027;0$y",
		"\x1b[4$p": "\x1b[4;1$y", "\x1b[20$p": "\x1b[20;0$y",
		"\x1b[?u": "\x1b[?5u", "\x1b[?4m": "\x1b[>4;1m", "\x1b[?1m": "",
		"\x1b[14t": "\x1b[4;540;900t", "\x1b[16t": "\x1b[6;18;9t", "\x1b[18t": "\x1b[8;30;100t", "\x1b[19t": "\x1b[9;30;100t", "\x1b[21t": "",
		"\x1b]10;?\a": "\x1b]10;rgb:cdcd/d6d6/f4f4\a", "\x1b]11;?\x1b\\": "\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\",
		"\x1b]11;?;?\a": "\x1b]11;rgb:1e1e/1e1e/2e2e\a\x1b]12;rgb:f5f5/e0e0/dcdc\a",
		"\x1b]13;?\a":   "",
		"\x1b]4;1;?;16;?;231;?;255;?;256;?;-1;?\a": "\x1b]4;1;rgb:cdcd/0000/0000\a\x1b]4;16;rgb:0000/0000/0000\a\x1b]4;231;rgb:ffff/ffff/ffff\a\x1b]4;255;rgb:eeee/eeee/eeee\a",
		"\x1b]52;c;?\a":              "",
		"\x1bP+q544E;5858;'ls\x1b\\": "\x1bP1+r544E=787465726D2D323536636F6C6F72\x1b\\\x1bP0+r5858\x1b\\\x1bP0+r\x1b\\",
		"\x1bP$q q\x1b\\":            "\x1bP1$r4 q\x1b\\", "\x1bP$qm\x1b\\": "\x1bP0$r\x1b\\", "\x1bP$q\"p\x1b\\": "\x1bP1$r62;1\"p\x1b\\",
		"\x1b_Ga=q;\x1b\\": "", "\x1b[?1;1S": "",
	} {
		_, qs, _ := feed([]byte(in))
		if len(qs) != 1 {
			t.Fatalf("%q: %d queries", in, len(qs))
		}
		got, ok := Answer(qs[0], term)
		if string(got) != want || ok != (want != "") {
			t.Errorf("%q: answer %q, %v; want %q", in, got, ok, want)
		}
		if NeedsScreen(qs[0]) != (in == "\x1b[6n" || in == "\x1b[?6n") {
			t.Errorf("%q needs the screen: %v", in, NeedsScreen(qs[0]))
		}
		// Every answer is something a host's Input would take for a reply.
		var host Input
		if res := host.Feed(got); len(res.Keys) != 0 || host.Held() || ok && res.Replies[0].Kind != qs[0].Kind {
			t.Errorf("%q: a terminal's answer %q reads as keys %q, %+v", in, got, res.Keys, res.Replies)
		}
	}
}

func TestUnknownTerminal(t *testing.T) {
	ask := func(in string, term Terminal) string {
		_, qs, _ := feed([]byte(in))
		b, _ := Answer(qs[0], term)
		return string(b)
	}
	if got := ask("\x1b[14t\x1b[c", Terminal{Cols: 80, Rows: 24}); got != "" {
		t.Errorf("pixels not known, yet %q", got)
	}
	if got := ask("\x1b]11;?\a", Terminal{Dark: true}); got != "\x1b]11;rgb:0000/0000/0000\a" {
		t.Errorf("dark background %q", got)
	}
	if got := ask("\x1b]11;?\a", Terminal{}); got != "\x1b]11;rgb:ffff/ffff/ffff\a" {
		t.Errorf("light background %q", got)
	}
	if got := string(Terminal{Cols: 80, Rows: 24}.ResizeReport()); got != "\x1b[48;24;80;0;0t" {
		t.Errorf("resize report %q", got)
	}
}
