package screen

import (
	"bytes"
	"strings"
)

// meaning is what a terminal means by a sequence. The zero meaning is a key.
type meaning struct {
	unfinished bool
	detach     bool
	paste      bool // one begins
	reply      Kind
}

// sequence reads what p, which begins with ESC, begins with, and returns its
// length.
func (in *Input) sequence(p []byte) (int, meaning) {
	if len(p) == 1 {
		return 1, meaning{unfinished: true}
	}
	switch p[1] {
	case '[':
		return in.csi(p)
	case ']', 'P', '_':
		return stringReply(p)
	}
	return 1, meaning{} // what follows may be another key
}

func (in *Input) csi(p []byte) (int, meaning) {
	n := 2
	for n < len(p) && p[n] >= 0x20 && p[n] < 0x40 {
		n++
	}
	switch {
	case n >= maxHeldBytes:
		return n, meaning{}
	case n == len(p):
		return n, meaning{unfinished: true}
	case p[n] < 0x40 || p[n] >= del:
		return n, meaning{} // cut short
	}
	n++
	c, ok := parseCSI(p[:n])
	if !ok {
		return n, meaning{}
	}
	switch m := string(c.params); {
	case c.prefix == 0 && c.inter == "" && c.final == '~' && m == "200":
		return n, meaning{paste: true}
	case !in.NoDetach && c.isDetach():
		return n, meaning{detach: true}
	}
	return n, meaning{reply: in.csiReply(c)}
}

// isDetach recognises ctrl-\ as kitty's protocol sends it when pressed
// (code ; modifiers : 1 u) and as modifyOtherKeys does (27 ; modifiers ; code ~).
func (c csiSeq) isDetach() bool {
	if c.prefix != 0 || c.inter != "" {
		return false
	}
	f := strings.Split(string(c.params), ";")
	switch {
	case c.final == 'u' && len(f) >= 2:
		code, _, _ := strings.Cut(f[0], ":") // what else the key can give does not matter
		mods, event, _ := strings.Cut(f[1], ":")
		return code == "92" && isCtrl(mods) && (event == "" || event == "1")
	case c.final == '~' && len(f) == 3:
		return f[0] == "27" && f[2] == "92" && isCtrl(f[1])
	}
	return false
}

// isCtrl reports whether a modifier parameter says ctrl and nothing else but
// caps lock and num lock.
func isCtrl(mods string) bool {
	const ctrl, locks = 4, 64 | 128
	return (number([]byte(mods))-1)&^locks == ctrl
}

// csiReply names the reply that c is, 0 for a key.
func (in *Input) csiReply(c csiSeq) Kind {
	switch string([]byte{c.prefix}) + c.inter + string([]byte{c.final}) {
	case "?c":
		return DA1
	case ">c":
		return DA2
	case "\x00n":
		return ifFirst(c, DSR, 0, 3)
	case "?n":
		if c.first() == 997 {
			return ColorScheme
		}
		return OtherDSR
	case "?$y", "\x00$y":
		return DECRQM
	case "?u":
		return KittyKeys
	case ">m":
		return ModifyKeys
	case "\x00t":
		if len(c.params) > 0 {
			return WindowReport
		}
	case "?R":
		return DECXCPR
	case "\x00R":
		return in.cursorReply(c)
	case "?S":
		return Other
	}
	return 0
}

// cursorReply tells a cursor position report from F3 with a modifier.
func (in *Input) cursorReply(c csiSeq) Kind {
	f := bytes.Split(c.params, []byte(";"))
	if len(f) != 2 || number(f[0]) == 0 {
		return 0
	}
	row, col := number(f[0]), number(f[1])
	if row == 1 && col >= 2 && col <= 16 && in.cprs == 0 {
		return 0
	}
	in.cprs = max(in.cprs-1, 0)
	return CPR
}

// stringReply reads an OSC, DCS or APC string. Alt with ], P or _ starts like
// one, so it is held only as long as it goes on like one.
func stringReply(p []byte) (int, meaning) {
	n := 2
	for n < len(p) && p[n] >= 0x20 {
		n++
	}
	kind := replyKind(p[1], p[2:n])
	switch {
	case kind == 0:
		return 2, meaning{}
	case n >= maxHeldBytes:
		return n, meaning{}
	case n == len(p), n == len(p)-1 && p[n] == esc:
		return n, meaning{unfinished: true}
	case p[n] == bel && p[1] == ']':
		n++
	case p[n] == esc && p[n+1] == '\\':
		n += 2
	default:
		return n, meaning{} // cut short
	}
	if kind == undecided {
		return n, meaning{}
	}
	return n, meaning{reply: kind}
}

// undecided is the kind of a string that may become any reply.
const undecided Kind = 255

// replyKind names the reply of which said is the start, after ESC and intro; 0
// if there is none.
func replyKind(intro byte, said []byte) Kind {
	switch intro {
	case '_':
		return startsReply(said, "G", KittyGraphics)
	case 'P':
		return max(
			startsReply(said, ">|", XTVersion),
			startsReply(said, "!|", DA3),
			startsReply(said, "0+r", XTGetTCap), startsReply(said, "1+r", XTGetTCap),
			startsReply(said, "0$r", DECRQSS), startsReply(said, "1$r", DECRQSS),
		)
	}
	num, _, found := bytes.Cut(said, []byte(";"))
	n := oscNumber(string(num))
	switch {
	case bytes.HasPrefix(said, []byte("l")), bytes.HasPrefix(said, []byte("L")):
		return WindowReport // a title
	case !found && (len(said) == 0 || n >= 0):
		return undecided
	case n == 4:
		return Palette
	case n >= 10 && n <= 19:
		return Color
	case n == 52:
		return Clipboard
	case n == 5 || n == 21 || n == 22 || n == 50 || n == 60 || n == 61:
		return Other
	}
	return 0
}

// startsReply is kind if said starts with word, undecided if it may come to.
func startsReply(said []byte, word string, kind Kind) Kind {
	switch {
	case bytes.HasPrefix(said, []byte(word)):
		return kind
	case strings.HasPrefix(word, string(said)):
		return undecided
	}
	return 0
}
