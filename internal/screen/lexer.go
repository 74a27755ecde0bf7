package screen

const (
	bel = 0x07
	can = 0x18
	sub = 0x1a
	esc = 0x1b
	del = 0x7f
)

// st is the string terminator, which outside a string does nothing.
const st = "\x1b\\"

// lexer is where a terminal's parser stands between two bytes. It follows the
// VT500 state machine as UTF-8 terminals run it: an ESC inside a sequence or
// string begins a new one, CAN and SUB end any, and controls inside a CSI
// sequence are obeyed without ending it.
type lexer uint8

const (
	ground      lexer = iota
	escape            // ESC
	escapeInter       // ESC and intermediate bytes
	csi               // ESC [ …
	oscString         // ESC ] …, ended by BEL or ST
	ctlString         // DCS, SOS, PM or APC, ended by ST
	stringEsc         // ESC inside a string: half an ST, or the start of a new sequence
)

// verdict is what one byte did to the sequence being read.
type verdict uint8

const (
	more verdict = iota // it belongs to the sequence, which goes on
	done                // it is the sequence's last; the lexer is in ground
	// void: the sequence ended unfinished and the byte is not part of it. The
	// lexer is in ground; or in escape, if the ESC before the byte was not half
	// an ST and so begins a sequence of its own.
	void
)

// step reads b, which follows the bytes of a sequence: not for ground.
func (l *lexer) step(b byte) verdict {
	switch *l {
	case escape, escapeInter, csi:
		return l.stepSequence(b)
	case stringEsc:
		if b == '\\' {
			*l = ground
			return done
		}
		*l = escape
		return void
	}
	switch {
	case b == esc:
		*l = stringEsc
	case b == can || b == sub:
		*l = ground
		return void
	case b == bel && *l == oscString:
		*l = ground
		return done
	}
	return more
}

func (l *lexer) stepSequence(b byte) verdict {
	switch {
	case b == esc || b == can || b == sub || b >= 0x80:
		*l = ground
		return void
	case b < 0x20 || b == del:
		return more
	case *l == csi && b < 0x40:
		return more
	case *l != csi && b < 0x30:
		*l = escapeInter
		return more
	case *l == escape:
		switch b {
		case '[':
			*l = csi
			return more
		case ']':
			*l = oscString
			return more
		case 'P', 'X', '^', '_':
			*l = ctlString
			return more
		}
	}
	*l = ground
	return done
}

// inString reports whether bytes are a string's payload.
func (l lexer) inString() bool { return l == oscString || l == ctlString }

// payload counts the bytes at the start of p that a string takes in whatever
// it is.
func payload(p []byte) int {
	for i, b := range p {
		if b < 0x20 && (b == esc || b == bel || b == can || b == sub) {
			return i
		}
	}
	return len(p)
}
