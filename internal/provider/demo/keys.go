package demo

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// key is what was pressed, or that text came.
type key int

const (
	keyNone key = iota // to be passed over: a reply of the terminal, an unknown key
	keyText
	keyPaste
	keyEnter
	keyNewline
	keyEscape
	keyLeft
	keyRight
	keyUp
	keyDown
	keyHome
	keyEnd
	keyPageUp
	keyPageDown
	keyBackspace
	keyDelete
	keyDeleteWord
	keyDeleteLeft
	keyDeleteRight
	keyInterrupt
	keyEOF
	keySuspend
	keyRedraw
)

// event is one key, with its text if it is keyText or keyPaste.
type event struct {
	key  key
	text string
}

var controls = map[byte]key{
	'\r': keyEnter, '\n': keyNewline, 0x7f: keyBackspace, 0x08: keyBackspace,
	0x01: keyHome, 0x05: keyEnd, 0x02: keyLeft, 0x06: keyRight, 0x10: keyUp, 0x0e: keyDown,
	0x03: keyInterrupt, 0x04: keyEOF, 0x0b: keyDeleteRight, 0x0c: keyRedraw, 0x15: keyDeleteLeft,
	0x17: keyDeleteWord, 0x1a: keySuspend,
}

// letters and numbers are the ends of "ESC [ … letter" and "ESC [ number ~".
var (
	letters = map[byte]key{'A': keyUp, 'B': keyDown, 'C': keyRight, 'D': keyLeft, 'H': keyHome, 'F': keyEnd}
	numbers = map[string]key{"1": keyHome, "7": keyHome, "4": keyEnd, "8": keyEnd,
		"3": keyDelete, "5": keyPageUp, "6": keyPageDown}
)

const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// decoder makes events of a terminal's bytes, however they are cut into reads.
type decoder struct{ buf []byte }

// feed takes the next bytes and returns the events that are complete.
func (d *decoder) feed(b []byte) []event {
	d.buf = append(d.buf, b...)
	return d.take(false)
}

// pending reports whether bytes wait that may be a whole event after all: a lone
// escape is a key if nothing follows it soon. A paste always has its end.
func (d *decoder) pending() bool {
	return len(d.buf) > 0 && !bytes.HasPrefix(d.buf, []byte(pasteBegin))
}

// flush takes what is pending for what it is.
func (d *decoder) flush() []event { return d.take(true) }

func (d *decoder) take(final bool) (events []event) {
	for len(d.buf) > 0 {
		e, n := next(d.buf, final)
		if n == 0 {
			break
		}
		d.buf = d.buf[n:]
		if e.key != keyNone {
			events = append(events, e)
		}
	}
	return events
}

// next is the first event in b and its length, 0 if more bytes are needed. With
// final there will be none soon.
func next(b []byte, final bool) (event, int) {
	if b[0] == 0x1b {
		return escape(b, final)
	}
	if k, ok := controls[b[0]]; ok {
		return event{key: k}, 1
	}
	n := 0
	for n < len(b) && (utf8.FullRune(b[n:]) || final) {
		r, size := utf8.DecodeRune(b[n:])
		if unicode.IsControl(r) {
			if n == 0 {
				return event{}, size
			}
			break
		}
		n += size
	}
	return event{keyText, valid(b[:n])}, n
}

func escape(b []byte, final bool) (event, int) {
	if len(b) == 1 {
		if final {
			return event{key: keyEscape}, 1
		}
		return event{}, 0
	}
	switch b[1] {
	case '[':
		return control(b, final)
	case 'O':
		if len(b) < 3 {
			return event{}, unless(final, len(b))
		}
		return event{key: letters[b[2]]}, 3
	case ']', 'P', '_', '^', 'X': // a terminal's late answer to somebody's question
		if i := bytes.IndexByte(b, 0x07); i > 0 {
			return event{}, i + 1
		}
		if i := bytes.Index(b, []byte("\x1b\\")); i > 0 {
			return event{}, i + 2
		}
		return event{}, unless(final, len(b))
	case '\r', '\n':
		return event{key: keyNewline}, 2
	case 0x7f:
		return event{key: keyDeleteWord}, 2
	case 0x1b:
		return event{key: keyEscape}, 1
	}
	if !utf8.FullRune(b[1:]) && !final {
		return event{}, 0
	}
	_, size := utf8.DecodeRune(b[1:])
	return event{}, 1 + size
}

// unless is n if it is final, else 0: wait for more.
func unless(final bool, n int) int {
	if final {
		return n
	}
	return 0
}

// control reads a sequence that begins with ESC [.
func control(b []byte, final bool) (event, int) {
	i := 2
	for i < len(b) && b[i] >= 0x20 && b[i] < 0x40 {
		i++
	}
	switch {
	case i == len(b):
		return event{}, unless(final, len(b))
	case b[i] < 0x40 || b[i] > 0x7e: // cut short: what follows is something else
		return event{}, i
	}
	n := i + 1
	if string(b[:n]) == pasteBegin {
		end := bytes.Index(b[n:], []byte(pasteEnd))
		if end < 0 {
			return event{}, 0
		}
		return event{keyPaste, pasted(b[n : n+end])}, n + end + len(pasteEnd)
	}
	if b[i] == '~' {
		number, _, _ := strings.Cut(string(b[2:i]), ";")
		return event{key: numbers[number]}, n
	}
	return event{key: letters[b[i]]}, n
}

// pasted is the text of a paste: terminals send line ends as carriage returns.
func pasted(b []byte) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(valid(b))
}

// valid is b with a replacement for every byte that is not UTF-8.
func valid(b []byte) string { return string([]rune(string(b))) }
