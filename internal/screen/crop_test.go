package screen

import (
	"slices"
	"testing"
)

// A cropped picture keeps the cursor's row and the attributes that hold for its first.
func TestCropKeepsTheCursor(t *testing.T) {
	rows := [][]byte{[]byte("\x1b[1mone"), []byte("\x1b[31mtwo\x0e"), []byte("three"), []byte("\x0ffour"), nil}
	for _, test := range []struct {
		name      string
		y, height int
		want      []string
		wantY     int
	}{
		{"it fits", 3, 5, []string{"\x1b[1mone", "\x1b[31mtwo\x0e", "three", "\x0ffour", ""}, 3},
		{"blank rows at the bottom go first", 2, 3, []string{"\x1b[1mone", "\x1b[31mtwo\x0e", "three"}, 2},
		{"then rows from the top", 3, 2, []string{"\x1b[1m\x1b[31m\x0ethree", "\x0ffour"}, 1},
		{"one row", 0, 1, []string{"\x1b[1mone"}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, y := Crop(rows, test.y, test.height)
			var text []string
			for _, row := range got {
				text = append(text, string(row))
			}
			if !slices.Equal(text, test.want) || y != test.wantY {
				t.Errorf("%q, cursor in %d; want %q, %d", text, y, test.want, test.wantY)
			}
		})
	}
	if string(rows[2]) != "three" {
		t.Error("the picture itself was changed")
	}
}
