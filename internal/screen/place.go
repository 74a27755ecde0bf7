package screen

import (
	"bytes"
	"iter"
)

// place is where a stream stands: its parser's state and, in ground, how many
// bytes are wanted to finish a UTF-8 character.
type place struct {
	lex  lexer
	need int
}

// ground reports whether the stream stands between two characters or
// sequences.
func (t *place) ground() bool { return t.lex == ground && t.need == 0 }

// text follows characters across p, which has no ESC.
func (t *place) text(p []byte) {
	for t.need > 0 && len(p) > 0 && p[0]&0xc0 == 0x80 {
		t.need--
		p = p[1:]
	}
	if len(p) > 0 {
		t.need = unfinished(p)
	}
}

// advance follows the stream across p.
func (t *place) advance(p []byte) {
	for i := 0; i < len(p); {
		if t.lex == ground {
			n := bytes.IndexByte(p[i:], esc)
			if n < 0 {
				t.text(p[i:])
				return
			}
			i += n
			t.need = 0
			if n := csiLen(p[i:]); n > 0 {
				i += n
				continue
			}
			t.lex = escape
			i++
			continue
		}
		if t.lex.step(p[i]) == void {
			continue
		}
		i++
		if t.lex.inString() {
			i += payload(p[i:])
		}
	}
}

// unfinished counts the bytes still wanted for the UTF-8 character that p ends
// in the middle of. p must not begin in the middle of one.
func unfinished(p []byte) int {
	for k := 1; k <= 3 && k <= len(p); k++ {
		switch b := p[len(p)-k]; {
		case b < 0x80:
			return 0
		case b >= 0xc0:
			return max(charLen(b)-k, 0)
		}
	}
	return 0
}

// charLen is the length in bytes of the character that the lead byte b begins.
func charLen(b byte) int {
	switch {
	case b >= 0xc2 && b < 0xe0:
		return 2
	case b >= 0xe0 && b < 0xf0:
		return 3
	case b >= 0xf0 && b < 0xf5:
		return 4
	}
	return 1
}

// piece is what a stretch of a stream is.
type piece uint8

const (
	text     piece = iota // characters and controls
	sequence              // a whole escape sequence or string
	fragment              // the start of one that was cut short
)

// pieces takes apart p, which begins in ground. Joined, the pieces are p.
func pieces(p []byte) iter.Seq2[piece, []byte] {
	return func(yield func(piece, []byte) bool) {
		l, start := ground, 0
		give := func(k piece, end int) bool {
			b := p[start:end]
			start = end
			return len(b) == 0 || yield(k, b)
		}
		for i := 0; i < len(p); {
			if l == ground {
				n := bytes.IndexByte(p[i:], esc)
				if n < 0 {
					break
				}
				i += n
				if !give(text, i) {
					return
				}
				l = escape
				i++
				continue
			}
			switch l.step(p[i]) {
			case more:
				i++
			case done:
				i++
				if !give(sequence, i) {
					return
				}
			case void:
				end := i
				if l == escape { // the ESC before begins the next
					end = i - 1
				}
				if !give(fragment, end) {
					return
				}
			}
		}
		if l == ground {
			give(text, len(p))
		} else {
			give(fragment, len(p))
		}
	}
}
