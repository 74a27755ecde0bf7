package cli

import (
	"fmt"
	"io"
	"strings"
)

// table is rows under one-word upper-case headings, the longest text in the
// last column. Cells are made visible, so that a title cannot draw.
type table struct{ rows [][]string }

func newTable(headings ...string) *table { return &table{rows: [][]string{headings}} }

// row adds a row with a cell for every heading. An empty cell shows as "-".
func (t *table) row(cells ...string) {
	if len(cells) != len(t.rows[0]) {
		panic(fmt.Sprintf("internal error: a row of %d cells in a table of %d columns", len(cells), len(t.rows[0])))
	}
	for i, c := range cells {
		if cells[i] = visible(c); cells[i] == "" {
			cells[i] = "-"
		}
	}
	t.rows = append(t.rows, cells)
}

// print writes the table, each line clipped to the terminal; into a pipe or a
// file nothing is clipped.
func (t *table) print(s Streams) error {
	widths := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], columns(cell))
		}
	}
	var text strings.Builder
	for _, row := range t.rows {
		line := ""
		for i, cell := range row {
			line += cell + strings.Repeat(" ", widths[i]-columns(cell)+2)
		}
		line = strings.TrimRight(line, " ")
		if s.Width > 0 {
			line = clip(line, s.Width)
		}
		text.WriteString(line + "\n")
	}
	if _, err := io.WriteString(s.Out, text.String()); err != nil {
		return fmt.Errorf("cannot print the table: %w", err)
	}
	return nil
}
