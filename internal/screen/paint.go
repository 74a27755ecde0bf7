package screen

import (
	"slices"
	"strconv"
)

// Paint returns the bytes that draw a picture on a cleared terminal in default modes
// and leave it in m: the rows from the top, with their attributes as escape sequences,
// which hold from one row to the next as tmux writes them, and their blanks, and the
// cursor at column x of row y, both from 0.
func (m Modes) Paint(rows [][]byte, x, y int) []byte {
	b := m.Restore()
	// What bends drawing is off while it lasts: origin, insert, wrapping. Line drawing
	// is where tmux's rows shift to (SO, SI).
	b = append(private(b, 'l', 6, 7), "\x1b[4l\x1b(B\x1b)0\x0f\x1b[m\x1b[2J"...)
	for i, row := range rows {
		if len(row) > 0 {
			b = append(place0(b, 0, i), row...)
		}
	}
	b = append(b, "\x0f\x1b)B\x1b[m"...)
	plain := Modes{Origin: m.Origin, Insert: m.Insert, G0: m.G0, G1: m.G1}
	b = slices.Concat(b, plain.Restore())
	if !m.NoWrap {
		b = private(b, 'h', 7)
	}
	return place0(b, x, y)
}

// place0 moves the cursor to column x of row y, both from 0.
func place0(b []byte, x, y int) []byte {
	b = append(b, esc, '[')
	b = strconv.AppendInt(b, int64(y)+1, 10)
	b = append(b, ';')
	b = strconv.AppendInt(b, int64(x)+1, 10)
	return append(b, 'H')
}
