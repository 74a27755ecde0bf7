package screen

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// maxTextCells bounds a side of the screen that Text draws on.
const maxTextCells = 1000

// Text draws recent output on a screen of cols × rows cells and returns its
// lines as plain text, at most rows (those below the last written are left
// out), without trailing spaces. It is evidence after a failure: attributes
// and character sets are ignored, and every character is one cell or two.
// Memory is bounded by the screen whatever tail says.
func Text(tail []byte, cols, rows int) []string {
	if cols <= 0 || rows <= 0 {
		return nil
	}
	g := newGrid(min(cols, maxTextCells), min(rows, maxTextCells))
	for kind, p := range pieces(tail) {
		switch {
		case kind == text:
			g.text(p)
		case kind == sequence && len(p) <= maxHeldBytes:
			g.sequence(withoutControls(p))
		}
	}
	return g.lines()
}

func (g *grid) text(p []byte) {
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		p = p[n:]
		switch {
		case r == '\r':
			g.x = 0
		case r == '\n' || r == '\v' || r == '\f':
			g.lineFeed()
		case r == '\b':
			g.x = max(min(g.x, g.cols-1)-1, 0)
		case r == '\t':
			g.x = min(g.x/8*8+8, g.cols-1)
		default:
			g.print(r)
		}
	}
}

func (g *grid) sequence(seq []byte) {
	switch seq[1] {
	case '[':
		if c, ok := parseCSI(seq); ok && c.inter == "" {
			g.csi(c)
		}
	case '7':
		g.saved = g.cursor
	case '8':
		g.cursor = g.saved
	case 'D':
		g.lineFeed()
	case 'E':
		g.x = 0
		g.lineFeed()
	case 'M':
		if g.y == g.top {
			g.scroll(g.top, -1)
		} else {
			g.y = max(g.y-1, 0)
		}
	case 'c':
		*g = *newGrid(g.cols, g.rows)
	}
}

func (g *grid) csi(c csiSeq) {
	if c.prefix != 0 {
		if c.prefix == '?' && (c.final == 'h' || c.final == 'l') {
			for f := range bytes.SplitSeq(c.params, []byte(";")) {
				if n := number(f); n == 47 || n == 1047 || n == 1049 {
					g.alternate(c.final == 'h')
				}
			}
		}
		return
	}
	_, rest, _ := bytes.Cut(c.params, []byte(";"))
	first, second := c.first(), number(rest)
	n := max(first, 1)
	switch c.final {
	case 'A':
		g.move(g.x, g.y-n)
	case 'B', 'e':
		g.move(g.x, g.y+n)
	case 'C', 'a':
		g.move(g.x+n, g.y)
	case 'D':
		g.move(min(g.x, g.cols-1)-n, g.y)
	case 'E':
		g.move(0, g.y+n)
	case 'F':
		g.move(0, g.y-n)
	case 'G', '`':
		g.move(n-1, g.y)
	case 'd':
		g.move(g.x, n-1)
	case 'H', 'f':
		g.move(max(second, 1)-1, n-1)
	case 'J':
		g.eraseScreen(first)
	case 'K':
		g.eraseLine(first)
	case 'X':
		g.blank(g.x, g.x+n)
	case 'L':
		g.scroll(g.y, -n)
	case 'M':
		g.scroll(g.y, n)
	case 'S':
		g.scroll(g.top, n)
	case 'T':
		g.scroll(g.top, -n)
	case 'r':
		g.margins(n-1, second-1)
	case 's':
		g.saved = g.cursor
	case 'u':
		g.cursor = g.saved
	}
}

// lines are the rows as text.
func (g *grid) lines() []string {
	var out []string
	for y, cells := range g.cells {
		var s strings.Builder
		for _, r := range cells {
			if r != wideRest {
				s.WriteRune(r)
			}
		}
		if line := strings.TrimRight(s.String(), " "); line != "" {
			for len(out) < y {
				out = append(out, "")
			}
			out = append(out, line)
		}
	}
	return out
}
