package screen

import "regexp"

// drawn are the sequences that a row of a picture leaves on for the next.
var drawn = regexp.MustCompile("\x1b\\[[0-9;:]*m|[\x0e\x0f]")

// Crop fits a picture to a terminal with fewer rows, as one does that shrinks: blank
// rows below the cursor go first, then rows from the top. It returns the rows that
// stay and the row of the cursor among them.
func Crop(rows [][]byte, y, height int) ([][]byte, int) {
	over := min(max(0, y+1-height), len(rows))
	if over > 0 {
		var first []byte // the attributes that the first row begins with
		for _, row := range rows[:over] {
			for _, seq := range drawn.FindAll(row, -1) {
				first = append(first, seq...)
			}
		}
		rows = append([][]byte{}, rows[over:]...)
		if len(rows) > 0 {
			rows[0] = append(first, rows[0]...)
		}
	}
	return rows[:min(len(rows), height)], y - over
}
