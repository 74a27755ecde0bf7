package cli

import "unicode"

// columns is how many terminal columns s takes. An emoji of several parts
// counts as all of them: terminals differ, and too wide only pads more.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// clip cuts s to width columns and ends it with "…" if anything was cut.
func clip(s string, width int) string {
	if columns(s) <= width {
		return s
	}
	used := 0
	for i, r := range s {
		if used += runeColumns(r); used > width-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// wide is the blocks that Unicode's EastAsianWidth.txt gives as W or F, with
// the gaps inside a block closed.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1}, // Hangul Jamo
		{0x231a, 0x231b, 1}, // watch, hourglass
		{0x2329, 0x232a, 1},
		{0x23e9, 0x23ec, 1},
		{0x23f0, 0x23f3, 3},
		{0x25fd, 0x25fe, 1},
		{0x2614, 0x2615, 1},
		{0x2648, 0x2653, 1},
		{0x267f, 0x2693, 20},
		{0x26a1, 0x26aa, 9},
		{0x26ab, 0x26bd, 18},
		{0x26be, 0x26c4, 6},
		{0x26c5, 0x26ce, 9},
		{0x26d4, 0x26ea, 22},
		{0x26f2, 0x26f3, 1},
		{0x26f5, 0x26fa, 5},
		{0x26fd, 0x2705, 8},
		{0x270a, 0x270b, 1},
		{0x2728, 0x274c, 36},
		{0x274e, 0x2753, 5},
		{0x2754, 0x2755, 1},
		{0x2757, 0x2795, 62},
		{0x2796, 0x2797, 1},
		{0x27b0, 0x27bf, 15},
		{0x2b1b, 0x2b1c, 1},
		{0x2b50, 0x2b55, 5},
		{0x2e80, 0x303e, 1}, // CJK radicals, punctuation
		{0x3041, 0xa4cf, 1}, // kana to Yi
		{0xa960, 0xa97f, 1},
		{0xac00, 0xd7a3, 1}, // Hangul syllables
		{0xf900, 0xfaff, 1},
		{0xfe10, 0xfe19, 1},
		{0xfe30, 0xfe6f, 1},
		{0xff00, 0xff60, 1}, // full-width forms
		{0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{
		{0x16fe0, 0x18aff, 1},
		{0x1b000, 0x1b2ff, 1},
		{0x1f004, 0x1f0cf, 0xcb},
		{0x1f18e, 0x1f191, 3},
		{0x1f192, 0x1f19a, 1},
		{0x1f200, 0x1f64f, 1}, // pictographs, faces
		{0x1f680, 0x1f6ff, 1},
		{0x1f7e0, 0x1f7eb, 1},
		{0x1f90c, 0x1f9ff, 1},
		{0x1fa70, 0x1faff, 1},
		{0x20000, 0x3fffd, 1}, // CJK extensions
	},
}
