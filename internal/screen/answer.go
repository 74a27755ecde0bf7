package screen

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Terminal is what the supervisor says it is when a client asks.
type Terminal struct {
	Cols, Rows     int // in cells
	XPixel, YPixel int // the text area, in pixels; 0 not known
	// Colours as the first host measured them. If all three are zero they are
	// not known: white on black where Dark, else black on white.
	Foreground, Background, Cursor RGB
	Dark                           bool
	Modes                          Modes
	Version                        string // of berth
}

// Answer returns what an xterm-256color with true colour replies to q. Ok is
// false if there is no reply: what needs the real screen (see NeedsScreen),
// what t does not know, titles and the clipboard, which are not for a program
// to read, and what such a terminal does not know of either.
func Answer(q Query, t Terminal) (reply []byte, ok bool) {
	s := ""
	switch q.Kind {
	case DA1:
		s = "\x1b[?62;22c" // a VT220 with colour; no sixel, no printer
	case DA2:
		s = "\x1b[>41;380;0c" // an xterm new enough for SGR mouse
	case DA3:
		s = "\x1bP!|00000000" + st
	case XTVersion:
		s = "\x1bP>|berth(" + t.Version + ")" + st
	case DSR:
		s = "\x1b[0n"
	case ColorScheme:
		s = "\x1b[?997;2n"
		if t.Dark {
			s = "\x1b[?997;1n"
		}
	case DECRQM:
		s = t.mode(q)
	case KittyKeys:
		s = fmt.Sprintf("\x1b[?%du", t.Modes.kitty().Flags())
	case ModifyKeys:
		if q.arg(0) == 4 {
			s = fmt.Sprintf("\x1b[>4;%dm", t.Modes.ModifyOtherKeys)
		}
	case WindowReport:
		s = t.window(q.arg(0))
	case Palette:
		s = t.palette(q)
	case Color:
		s = t.colors(q)
	case XTGetTCap:
		s = t.capabilities(q)
	case DECRQSS:
		s = t.setting(q)
	}
	return []byte(s), s != ""
}

// ResizeReport is what a client in Modes.InBandResize expects when it sets
// that mode and at every change of size. Hosts' own reports are Replies of
// their Input; they are about their terminals.
func (t Terminal) ResizeReport() []byte {
	return fmt.Appendf(nil, "\x1b[48;%d;%d;%d;%dt", t.Rows, t.Cols, t.YPixel, t.XPixel)
}

// arg is the number that argument i begins with, or 0.
func (q Query) arg(i int) int {
	if i >= len(q.Args) {
		return 0
	}
	return number([]byte(q.Args[i]))
}

func (t Terminal) mode(q Query) string {
	prefix, mark := byte(0), ""
	if bytes.HasPrefix(withoutControls(q.Raw), []byte("\x1b[?")) {
		prefix, mark = '?', "?"
	}
	n := q.arg(0)
	return fmt.Sprintf("\x1b[%s%d;%d$y", mark, n, t.Modes.report(prefix, n))
}

func (t Terminal) window(n int) string {
	pixels := t.XPixel > 0 && t.YPixel > 0 && t.Cols > 0 && t.Rows > 0
	switch {
	case n == 11:
		return "\x1b[1t" // not an icon
	case n == 13:
		return "\x1b[3;0;0t"
	case n == 14 && pixels:
		return fmt.Sprintf("\x1b[4;%d;%dt", t.YPixel, t.XPixel)
	case n == 15 && pixels:
		return fmt.Sprintf("\x1b[5;%d;%dt", t.YPixel, t.XPixel)
	case n == 16 && pixels:
		return fmt.Sprintf("\x1b[6;%d;%dt", t.YPixel/t.Rows, t.XPixel/t.Cols)
	case n == 18:
		return fmt.Sprintf("\x1b[8;%d;%dt", t.Rows, t.Cols)
	case n == 19:
		return fmt.Sprintf("\x1b[9;%d;%dt", t.Rows, t.Cols)
	}
	return ""
}

// palette answers each of OSC 4 ; n ; ? ; m ; ? …
func (t Terminal) palette(q Query) string {
	var s strings.Builder
	for i := 2; i < len(q.Args); i += 2 {
		n, err := strconv.Atoi(q.Args[i-1])
		if q.Args[i] == "?" && err == nil && n >= 0 && n < 256 {
			fmt.Fprintf(&s, "\x1b]4;%d;%s%s", n, xterm256(n), q.terminator())
		}
	}
	return s.String()
}

// colors answers OSC n ; ? ; ? …, whose later fields are for n+1, n+2 …
func (t Terminal) colors(q Query) string {
	fg, bg, cursor := t.Foreground, t.Background, t.Cursor
	if (fg == RGB{} && bg == RGB{} && cursor == RGB{}) {
		fg, bg = RGB{}, RGB{0xff, 0xff, 0xff}
		if t.Dark {
			fg, bg = bg, fg
		}
		cursor = fg
	}
	// 17 and 19: a selection shows in reverse.
	known := map[int]RGB{10: fg, 11: bg, 12: cursor, 17: fg, 19: bg}
	var s strings.Builder
	for i, a := range q.Args[1:] {
		n := q.arg(0) + i
		if c, ok := known[n]; ok && a == "?" {
			fmt.Fprintf(&s, "\x1b]%d;%s%s", n, c, q.terminator())
		}
	}
	return s.String()
}

// terminator ends replies as the question was ended.
func (q Query) terminator() string {
	if q.Raw[len(q.Raw)-1] == bel {
		return "\a"
	}
	return st
}

// capabilities answers one name per reply, as kitty does: xterm stops at the
// first it does not know.
func (t Terminal) capabilities(q Query) string {
	known := map[string]string{
		"TN": "xterm-256color", "name": "xterm-256color",
		"Co": "256", "colors": "256",
		"RGB": "8/8/8",
	}
	var s strings.Builder
	for _, a := range q.Args {
		name, err := hex.DecodeString(a)
		value, ok := known[string(name)]
		switch {
		case err != nil: // no name, so nothing to say back: it would be typed into the client
			s.WriteString("\x1bP0+r" + st)
		case ok:
			fmt.Fprintf(&s, "\x1bP1+r%s=%X%s", a, value, st)
		default:
			fmt.Fprintf(&s, "\x1bP0+r%s%s", a, st)
		}
	}
	return s.String()
}

func (t Terminal) setting(q Query) string {
	switch q.Args[0] {
	case " q":
		return fmt.Sprintf("\x1bP1$r%d q%s", t.Modes.CursorStyle, st)
	case `"p`:
		return "\x1bP1$r62;1\"p" + st
	}
	return "\x1bP0$r" + st
}
