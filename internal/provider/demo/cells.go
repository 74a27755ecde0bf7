package demo

import (
	"strings"
	"unicode"
)

// wide are the characters that take two cells in a terminal: East Asian scripts and
// emoji, by block.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1}, {0x231a, 0x231b, 1}, {0x23e9, 0x23ec, 1}, {0x2614, 0x2615, 1},
		{0x2648, 0x2653, 1}, {0x26aa, 0x26ab, 1}, {0x2705, 0x2705, 1}, {0x270a, 0x270b, 1},
		{0x2728, 0x2728, 1}, {0x274c, 0x274c, 1}, {0x2753, 0x2755, 1}, {0x2795, 0x2797, 1},
		{0x2b50, 0x2b50, 1}, {0x2e80, 0x303e, 1}, {0x3041, 0x33ff, 1}, {0x3400, 0x4dbf, 1},
		{0x4e00, 0x9fff, 1}, {0xa000, 0xa4cf, 1}, {0xac00, 0xd7a3, 1}, {0xf900, 0xfaff, 1},
		{0xfe30, 0xfe6f, 1}, {0xff00, 0xff60, 1}, {0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{
		{0x16fe0, 0x18aff, 1}, {0x1b000, 0x1b2ff, 1}, {0x1f300, 0x1f64f, 1}, {0x1f680, 0x1f6ff, 1},
		{0x1f900, 0x1f9ff, 1}, {0x1fa70, 0x1faff, 1}, {0x20000, 0x3fffd, 1},
	},
}

// cells is how many cells of the screen r takes.
func cells(r rune) int {
	switch {
	case r < 0x7f:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

func width(s string) (n int) {
	for _, r := range s {
		n += cells(r)
	}
	return n
}

// clean makes s safe to show: control characters, which could move the cursor or
// worse, become a replacement. Line ends stay, tabs are blanks.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return '�'
		}
		return r
	}, strings.NewReplacer("\r\n", "\n", "\t", "    ").Replace(strings.ToValidUTF8(s, "�")))
}

// cut is s in at most w cells, with an ellipsis for what does not fit.
func cut(s string, w int) string {
	if width(s) <= w {
		return s
	}
	if w <= 0 {
		return ""
	}
	n := 1 // the ellipsis
	for i, r := range s {
		if n += cells(r); n > w {
			return s[:i] + "…"
		}
	}
	panic("internal error: a string too wide for a row fits into it")
}

// wrap breaks clean text into rows of at most w cells, between words where it can.
func wrap(s string, w int) []string {
	w = max(w, 2) // a wide character always fits
	var rows []string
	for line := range strings.SplitSeq(s, "\n") {
		rows = append(rows, wrapLine(line, w)...)
	}
	return rows
}

func wrapLine(line string, w int) (rows []string) {
	start, space, n := 0, -1, 0 // of the row, of its last blank, and its cells
	for i, r := range line {
		if n+cells(r) > w {
			end, next := i, i
			switch {
			case r == ' ':
				next = i + 1
			case space > start:
				end, next = space, space+1
			}
			rows = append(rows, line[start:end])
			start, space = next, -1
			n = width(line[min(start, i):i])
			if next > i {
				n = 0
				continue
			}
		}
		if r == ' ' {
			space = i
		}
		n += cells(r)
	}
	if start == len(line) && len(rows) > 0 {
		return rows // it ended in the blank that was left out
	}
	return append(rows, line[start:])
}
