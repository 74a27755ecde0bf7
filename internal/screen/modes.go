package screen

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTitleBytes bounds a title; a person reads less.
const maxTitleBytes = 256

// Modes are the switches of a terminal that outlive what is drawn. The zero
// Modes are a terminal's defaults, and two Modes are the same if ==. Attributes,
// margins, tab stops and colours are not among them.
type Modes struct {
	AltScreen       uint16 // the mode that entered it: 47, 1047 or 1049; 0 on the main screen
	CursorHidden    bool   // 25 reset
	CursorStyle     uint8  // DECSCUSR 1 to 6, 0 the terminal's own
	AppCursor       bool   // 1
	AppKeypad       bool   // 66, ESC =
	NoWrap          bool   // 7 reset
	Origin          bool   // 6
	Insert          bool   // ANSI mode 4
	ReverseScreen   bool   // 5
	BracketedPaste  bool   // 2004
	Focus           bool   // 1004
	Mouse           uint16 // 9, 1000, 1002 or 1003: the last one set; 0 none
	MouseEncoding   uint16 // 1005, 1006, 1015 or 1016: the last one set; 0 X10's
	Sync            bool   // 2026
	ColorScheme     bool   // 2031: reports changes between dark and light
	InBandResize    bool   // 2048: reports sizes, see Terminal.ResizeReport
	ModifyOtherKeys uint8
	KittyMain       KittyStack
	KittyAlt        KittyStack
	G0, G1          byte   // final byte of the designated character set, 0 ASCII
	Title           string // valid UTF-8 without control characters, ≤ 256 bytes
}

// apply changes m by a finished sequence; nil is none.
func (m *Modes) apply(seq []byte) {
	if seq == nil {
		return
	}
	seq = withoutControls(seq)
	switch seq[1] {
	case '[':
		if c, ok := parseCSI(seq); ok {
			m.applyCSI(c)
		}
	case ']':
		num, title, ok := bytes.Cut(body(seq), []byte(";"))
		if n := oscNumber(string(num)); ok && (n == 0 || n == 2) {
			m.Title = cleanTitle(title)
		}
	case '=':
		m.AppKeypad = true
	case '>':
		m.AppKeypad = false
	case 'c': // RIS; xterm keeps the title
		*m = Modes{Title: m.Title}
	case '(':
		designate(&m.G0, seq)
	case ')':
		designate(&m.G1, seq)
	}
}

func designate(set *byte, seq []byte) {
	switch {
	case len(seq) != 3: // a two-byte designation: not one of the few in use
	case seq[2] == 'B':
		*set = 0
	default:
		*set = seq[2]
	}
}

func (m *Modes) applyCSI(c csiSeq) {
	switch {
	case c.inter == "" && (c.final == 'h' || c.final == 'l'):
		for f := range bytes.SplitSeq(c.params, []byte(";")) {
			m.set(c.prefix, number(f), c.final == 'h')
		}
	case c.inter == "" && c.final == 'u' && c.prefix != 0:
		m.kitty().apply(c)
	case c.inter == "" && c.final == 'm' && c.prefix == '>':
		which, level, _ := bytes.Cut(c.params, []byte(";"))
		if n := number(which); n == 4 || len(which) == 0 {
			m.ModifyOtherKeys = uint8(min(number(level), 3))
		}
	case c.inter == "" && c.final == 'n' && c.prefix == '>' && c.first() == 4:
		m.ModifyOtherKeys = 0
	case c.inter == " " && c.final == 'q' && c.prefix == 0:
		if n := c.first(); n <= 6 {
			m.CursorStyle = uint8(n)
		}
	case c.inter == "!" && c.final == 'p' && c.prefix == 0: // DECSTR
		m.CursorHidden, m.NoWrap, m.Origin, m.Insert = false, false, false, false
		m.AppCursor, m.AppKeypad, m.G0, m.G1 = false, false, 0, 0
	}
}

// kitty is the keyboard stack of the screen shown.
func (m *Modes) kitty() *KittyStack {
	if m.AltScreen != 0 {
		return &m.KittyAlt
	}
	return &m.KittyMain
}

// set changes the DEC private mode n (prefix '?') or the ANSI mode n.
func (m *Modes) set(prefix byte, n int, on bool) {
	switch {
	case prefix == 0 && n == 4:
		m.Insert = on
	case prefix != '?':
	case n == 47 || n == 1047 || n == 1049:
		if !on {
			m.AltScreen = 0
		} else if m.AltScreen == 0 {
			m.AltScreen = uint16(n)
		}
	case isMouse(n):
		m.Mouse = choose(n, on)
	case isMouseEncoding(n):
		m.MouseEncoding = choose(n, on)
	default:
		if p, high := m.flag(n); p != nil {
			*p = on == high
		}
	}
}

// As in xterm and tmux, setting one of such a group ends the others, and
// resetting any ends all.
func choose(n int, on bool) uint16 {
	if on {
		return uint16(n)
	}
	return 0
}

func isMouse(n int) bool         { return n == 9 || n == 1000 || n == 1002 || n == 1003 }
func isMouseEncoding(n int) bool { return n == 1005 || n == 1006 || n == 1015 || n == 1016 }

// flagModes are the DEC private modes that are one switch.
var flagModes = [...]int{1, 5, 6, 7, 25, 66, 1004, 2004, 2031, 2048, 2026}

// flag is where the private mode n is kept, nil if it is not one switch, and
// which value it has when the mode is set.
func (m *Modes) flag(n int) (p *bool, high bool) {
	switch n {
	case 1:
		return &m.AppCursor, true
	case 5:
		return &m.ReverseScreen, true
	case 6:
		return &m.Origin, true
	case 7:
		return &m.NoWrap, false
	case 25:
		return &m.CursorHidden, false
	case 66:
		return &m.AppKeypad, true
	case 1004:
		return &m.Focus, true
	case 2004:
		return &m.BracketedPaste, true
	case 2026:
		return &m.Sync, true
	case 2031:
		return &m.ColorScheme, true
	case 2048:
		return &m.InBandResize, true
	}
	return nil, false
}

// report is the state DECRPM gives of a mode: 1 set, 2 reset, 0 not known.
func (m Modes) report(prefix byte, n int) int {
	on := false
	switch {
	case prefix != '?':
		if n != 4 {
			return 0
		}
		on = m.Insert
	case n == 47 || n == 1047 || n == 1049:
		on = m.AltScreen != 0
	case isMouse(n):
		on = int(m.Mouse) == n
	case isMouseEncoding(n):
		on = int(m.MouseEncoding) == n
	default:
		p, high := m.flag(n)
		if p == nil {
			return 0
		}
		on = *p == high
	}
	if on {
		return 1
	}
	return 2
}

// cleanTitle makes a title fit to be shown and sent anywhere.
func cleanTitle(b []byte) string {
	s := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, string(b))
	if len(s) <= maxTitleBytes {
		return s
	}
	n := maxTitleBytes
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
