package screen

import (
	"bytes"
	"strings"
)

// Kind says what a query asks, or what a reply answers.
type Kind uint8

const (
	DA1           Kind = iota + 1 // primary device attributes: CSI c, ESC Z
	DA2                           // secondary: CSI > c
	DA3                           // tertiary: CSI = c
	XTVersion                     // name and version: CSI > q
	DSR                           // status: CSI 5 n
	CPR                           // cursor position: CSI 6 n
	DECXCPR                       // cursor position and page: CSI ? 6 n
	ColorScheme                   // dark or light: CSI ? 996 n
	OtherDSR                      // another CSI ? Ps n
	DECRQM                        // one mode: CSI ? Ps $ p, CSI Ps $ p
	KittyKeys                     // kitty keyboard flags: CSI ? u
	ModifyKeys                    // modifyOtherKeys and its like: CSI ? Ps m
	WindowReport                  // sizes, states, titles: CSI Ps t
	Palette                       // OSC 4 ; n ; ?, several in one
	Color                         // OSC 10 to 19 ; ?, several in one
	Clipboard                     // OSC 52 ; c ; ?
	XTGetTCap                     // terminfo by name: DCS + q
	DECRQSS                       // a setting: DCS $ q
	KittyGraphics                 // APC G with a=q
	Other                         // what some terminal answers and berth never does
)

// Query is a question to the terminal, found in a client's output. A colour
// query that also sets colours is taken out whole.
type Query struct {
	Kind Kind
	Raw  []byte // the bytes as written
	// Args are the parameters: of a CSI sequence without prefix, intermediates
	// and final ("18"); of an OSC all fields with the number ("4", "1", "?");
	// of XTGETTCAP the hex names; of DECRQSS the setting; else nil.
	Args []string
}

// NeedsScreen reports whether only a terminal with the real screen can answer
// q.
func NeedsScreen(q Query) bool { return q.Kind == CPR || q.Kind == DECXCPR }

// parseQuery reads a finished sequence; nil is none.
func parseQuery(seq []byte) (Query, bool) {
	if seq == nil {
		return Query{}, false
	}
	kind, args := classify(withoutControls(seq))
	if kind == 0 {
		return Query{}, false
	}
	return Query{Kind: kind, Raw: bytes.Clone(seq), Args: args}, true
}

// classify names the query that seq, free of controls, is; 0 if none.
func classify(seq []byte) (Kind, []string) {
	switch seq[1] {
	case 'Z':
		if len(seq) == 2 {
			return DA1, nil
		}
	case '[':
		return classifyCSI(seq)
	case ']':
		return classifyOSC(body(seq))
	case 'P':
		b := body(seq)
		switch {
		case bytes.HasPrefix(b, []byte("+q")):
			return XTGetTCap, strings.Split(string(b[2:]), ";")
		case bytes.HasPrefix(b, []byte("$q")):
			return DECRQSS, []string{string(b[2:])}
		case bytes.HasPrefix(b, []byte("+Q")):
			return Other, nil // XTGETXRES
		}
	case '_':
		if asksGraphics(body(seq)) {
			return KittyGraphics, nil
		}
	}
	return 0, nil
}

func classifyCSI(seq []byte) (Kind, []string) {
	c, ok := parseCSI(seq)
	if !ok {
		return 0, nil
	}
	kind := c.query()
	if kind == 0 {
		return 0, nil
	}
	return kind, strings.Split(string(c.params), ";")
}

func (c csiSeq) query() Kind {
	switch string([]byte{c.prefix}) + c.inter + string([]byte{c.final}) {
	case "\x00c":
		return ifFirst(c, DA1, 0)
	case ">c":
		return ifFirst(c, DA2, 0)
	case "=c":
		return ifFirst(c, DA3, 0)
	case ">q":
		return ifFirst(c, XTVersion, 0)
	case "\x00n":
		if c.first() == 5 {
			return DSR
		}
		return ifFirst(c, CPR, 6)
	case "?n":
		switch c.first() {
		case 6:
			return DECXCPR
		case 996:
			return ColorScheme
		}
		return OtherDSR
	case "?$p", "\x00$p":
		return DECRQM
	case "?u":
		return KittyKeys
	case "?m":
		return ModifyKeys
	case "\x00t":
		return ifFirst(c, WindowReport, 11, 13, 14, 15, 16, 18, 19, 20, 21)
	case "\x00x": // DECREQTPARM
		return ifFirst(c, Other, 0, 1)
	case "?S", // XTSMGRAPHICS
		"?g",     // XTQFMTKEYS
		"\x00*y", // DECRQCRA
		"\x00$w", // DECRQPSR
		"\x00$u", // DECRQTSR
		"\x00&u", // DECRQUPSS
		"\x00+x", // DECRQPKFM
		"\x00#R", // XTREPORTCOLORS
		"\x00#|", // XTREPORTSGR
		"\x00'|": // DECRQLP
		return Other
	}
	return 0
}

// ifFirst is kind if c's first parameter is one of values.
func ifFirst(c csiSeq, kind Kind, values ...int) Kind {
	for _, v := range values {
		if c.first() == v {
			return kind
		}
	}
	return 0
}

// classifyOSC names the query that an OSC string's body is; 0 if none.
func classifyOSC(b []byte) (Kind, []string) {
	kind := Kind(0)
	args := strings.Split(string(b), ";")
	switch n := oscNumber(args[0]); {
	case n == 4 || n == 5:
		for i := 2; i < len(args); i += 2 {
			if args[i] == "?" {
				kind = Palette
			}
		}
		if kind != 0 && n == 5 {
			kind = Other
		}
	case n >= 10 && n <= 19:
		for _, a := range args[1:] {
			if a == "?" {
				kind = Color
			}
		}
	case n == 52:
		if len(args) == 3 && args[2] == "?" {
			kind = Clipboard
		}
	case n == 21 || n == 22 || n == 50 || n == 60 || n == 61: // kitty colours, pointer, font, features
		if strings.Contains(string(b), "?") || n >= 60 {
			kind = Other
		}
	case n == 1337: // iTerm2
		if len(args) > 1 && strings.HasPrefix(args[1], "Report") {
			kind = Other
		}
	}
	if kind == 0 {
		return 0, nil
	}
	return kind, args
}

// oscNumber is an OSC's leading number, -1 if it is not one.
func oscNumber(s string) int {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return -1
	}
	return number([]byte(s))
}

// mayBeQuery reports whether an unfinished sequence can still become a query.
// Where it says no, parseQuery says no to whatever follows.
func mayBeQuery(l lexer, seq []byte) bool {
	switch l {
	case escape, csi:
		return true
	case escapeInter:
		return false
	}
	seq = withoutControls(bytes.TrimSuffix(seq, []byte{esc}))
	b := seq[2:]
	switch seq[1] {
	case ']':
		return mayBeOSC(b)
	case 'P':
		for _, ask := range [...]string{"+q", "$q", "+Q"} {
			if strings.HasPrefix(string(b[:min(len(b), 2)]), ask[:min(len(b), 2)]) {
				return true
			}
		}
	case '_':
		return len(b) == 0 || b[0] == 'G' && (!bytes.Contains(b, []byte(";")) || asksGraphics(b))
	}
	return false
}

func mayBeOSC(b []byte) bool {
	num, rest, found := bytes.Cut(b, []byte(";"))
	if !found {
		return len(num) == 0 || oscNumber(string(num)) >= 0
	}
	switch n := oscNumber(string(num)); {
	case n == 4, n == 5, n >= 10 && n <= 19, n == 21, n == 22, n == 50, n == 60, n == 61:
		return true
	case n == 52:
		_, data, found := bytes.Cut(rest, []byte(";"))
		return !found || len(data) == 0 || string(data) == "?"
	case n == 1337:
		const word = "Report"
		return bytes.HasPrefix(rest, []byte(word)) || strings.HasPrefix(word, string(rest))
	}
	return false
}

// asksGraphics reports whether the body of an APC is a kitty graphics query.
func asksGraphics(b []byte) bool {
	if len(b) == 0 || b[0] != 'G' {
		return false
	}
	keys, _, _ := bytes.Cut(b[1:], []byte(";"))
	for k := range bytes.SplitSeq(keys, []byte(",")) {
		if string(k) == "a=q" {
			return true
		}
	}
	return false
}

// body is what a finished string, free of controls (and so of a BEL at its
// end), says.
func body(seq []byte) []byte { return bytes.TrimSuffix(seq[2:], []byte(st)) }

// isControl reports whether terminals obey or ignore b inside a sequence
// without its being part of it.
func isControl(b byte) bool { return b < 0x20 && b != esc || b == del }

// withoutControls is seq without the controls in it and the BEL that may end
// it; seq or a part of it where that can be.
func withoutControls(seq []byte) []byte {
	i := 0
	for i < len(seq) && !isControl(seq[i]) {
		i++
	}
	out := seq[:i:i]
	for ; i < len(seq); i++ {
		if !isControl(seq[i]) {
			out = append(out, seq[i])
		}
	}
	return out
}

// appendControls adds the controls that terminals obey inside an ESC or CSI
// sequence. In strings they ignore them.
func appendControls(out, seq []byte) []byte {
	if clean := withoutControls(seq); len(clean) == len(seq) || clean[1] != '[' && clean[1] != 'Z' {
		return out
	}
	for _, b := range seq {
		if isControl(b) && b != del {
			out = append(out, b)
		}
	}
	return out
}
