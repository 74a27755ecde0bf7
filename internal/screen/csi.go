package screen

import "bytes"

// csiSeq is a CSI sequence taken apart.
type csiSeq struct {
	prefix byte   // one of < = > ?, or 0
	params []byte // digits, semicolons, colons
	inter  string // intermediate bytes
	final  byte
}

// parseCSI takes apart ESC [ … final; ok is false if the parts are out of
// order, which terminals ignore.
func parseCSI(seq []byte) (c csiSeq, ok bool) {
	n := len(seq) - 1
	c.final = seq[n]
	body := seq[2:n]
	if len(body) > 0 && body[0] >= '<' {
		c.prefix, body = body[0], body[1:]
	}
	i := 0
	for i < len(body) && body[i] >= '0' && body[i] <= ';' {
		i++
	}
	c.params = body[:i]
	for _, b := range body[i:] {
		if b >= 0x30 {
			return c, false
		}
	}
	c.inter = string(body[i:])
	return c, true
}

// first is the first parameter, or 0.
func (c csiSeq) first() int {
	f, _, _ := bytes.Cut(c.params, []byte(";"))
	return number(f)
}

// number reads decimal digits, stopping at the first other byte; without any
// it is 0, as a missing parameter is. It saturates.
func number(b []byte) int {
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			break
		}
		n = min(n*10+int(c-'0'), 1<<20)
	}
	return n
}

// csiLen returns the length of the whole CSI sequence that p, which begins
// with ESC, begins with; 0 if it is none, not all there, or has controls in it.
func csiLen(p []byte) int {
	if len(p) < 3 || p[1] != '[' {
		return 0
	}
	for i, b := range p[2:] {
		if b < 0x20 || b >= del {
			return 0
		}
		if b >= 0x40 {
			return i + 3
		}
	}
	return 0
}

// draws reports whether a whole CSI sequence neither asks nor sets a mode. It
// may say no to one that does not. These are the bulk of what agents write.
func draws(seq []byte) bool {
	return (len(seq) == 3 || seq[2] < '<') && drawing[seq[len(seq)-1]]
}

// drawing has the final bytes that no query and no mode has without a prefix.
var drawing = func() (t [256]bool) {
	for b := '@'; b <= '~'; b++ {
		t[b] = true
	}
	for _, b := range "chlnpqtuwxyR|" {
		t[b] = false
	}
	return t
}()
