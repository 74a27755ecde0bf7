package demo

import (
	"fmt"
	"slices"
	"strings"
)

// entry is one thing said on the screen.
type entry struct{ who, text string }

// view is everything a frame shows.
type view struct {
	title, model, id, cwd string
	entries               []entry
	input                 editor
	state                 string // as in the status line
	hint                  string
	scroll                int  // rows the transcript is scrolled back
	color                 bool // NO_COLOR is not set
}

// frame is a picture of w by h cells: one string per row, and the cursor's place.
type frame struct {
	rows     []string
	row, col int // from 0
}

// The looks, as SGR parameters.
const (
	bold   = "1"
	dim    = "2"
	strong = "1;36"
)

var stateColor = map[string]string{"idle": "32", "busy": "33", "waiting": "35", "blocked": "35"}

func (v *view) paint(look, s string) string {
	if !v.color || s == "" {
		return s
	}
	return "\x1b[" + look + "m" + s + "\x1b[0m"
}

// draw lays the view out. It needs 20 by 5 cells to be of use; in fewer it leaves
// out the header, then the transcript, then the status line. A scroll beyond the
// transcript's beginning is brought back to it.
func (v *view) draw(w, h int) frame {
	w, h = max(w, 1), max(h, 1)
	var top, bottom []string
	if h >= 4 {
		top = append(top, v.header(w))
	}
	rule := v.paint(dim, strings.Repeat("─", w))
	if h >= 8 {
		top = append(top, rule)
		bottom = append(bottom, rule)
	}
	input, col := v.inputLine(w)
	bottom = append(bottom, input)
	if h >= 2 {
		bottom = append(bottom, v.status(w))
	}
	f := frame{rows: append(top, v.transcript(w, h-len(top)-len(bottom))...), col: col}
	f.rows = append(f.rows, bottom...)
	f.row = h - min(2, h)
	return f
}

func (v *view) header(w int) string {
	right := v.id[:min(len(v.id), 8)]
	if v.model != "" {
		right += " " + v.model
	}
	right += " " + v.cwd
	name := " demo "
	room := w - len(name) - width(right) - 2
	if room < 8 { // the title matters more
		right, room = "", w-len(name)-1
	}
	title := cut(" "+v.title, room)
	gap := strings.Repeat(" ", max(room-width(title), 0)+1)
	return v.paint("7", cut(name, w)) + v.paint(bold, title) + gap + v.paint(dim, right)
}

// transcript is the last h rows of what was said, or those v.scroll rows before.
func (v *view) transcript(w, h int) []string {
	var rows []string // from the last upwards
	for i := len(v.entries) - 1; i >= 0 && len(rows) < h+v.scroll; i-- {
		said := v.said(v.entries[i], w)
		slices.Reverse(said)
		rows = append(rows, said...)
		if i > 0 && (v.entries[i-1].who != v.entries[i].who || v.entries[i].who == fromUser) {
			rows = append(rows, "")
		}
	}
	v.scroll = max(min(v.scroll, len(rows)-h), 0)
	rows = rows[v.scroll:min(len(rows), v.scroll+h)]
	slices.Reverse(rows)
	return append(rows, make([]string, h-len(rows))...)
}

// marks stand before the first row of what each says.
var marks = map[string]string{fromUser: "› ", fromAgent: "● ", fromNote: "  "}

func (v *view) said(e entry, w int) []string {
	rows := wrap(clean(e.text), w-2)
	for i, r := range rows {
		mark := "  "
		if i == 0 {
			mark = v.paint(strong, marks[e.who])
		}
		switch e.who {
		case fromUser:
			r = v.paint(bold, r)
		case fromNote:
			r = v.paint(dim, r)
		}
		rows[i] = mark + r
	}
	return rows
}

// inputLine is the line being written, scrolled sideways so that the cursor shows,
// and the cursor's column.
func (v *view) inputLine(w int) (string, int) {
	room := max(w-3, 1) // the mark, and a place for the cursor after the text
	text := []rune(strings.ReplaceAll(clean(string(v.input.text)), "\n", "↵"))
	pos := min(v.input.pos+tabs(v.input.text[:v.input.pos]), len(text))
	from, before := pos, 0
	for from > 0 && before+cells(text[from-1]) <= room {
		from--
		before += cells(text[from])
	}
	to, n := pos, before
	for to < len(text) && n+cells(text[to]) <= room {
		n += cells(text[to])
		to++
	}
	mark := "› "
	if from > 0 {
		mark = "‹ "
	}
	if w < 4 { // no room for a mark
		return string(text[from:to]), min(before, w-1)
	}
	return v.paint(strong, mark) + string(text[from:to]), 2 + before
}

// tabs is how many runes more the shown text has, for a tab shows as four blanks.
func tabs(text []rune) (n int) {
	for _, r := range text {
		if r == '\t' {
			n += 3
		}
	}
	return n
}

func (v *view) status(w int) string {
	hint := v.hint
	if v.scroll > 0 {
		hint = fmt.Sprintf("%d rows back · page down", v.scroll)
	}
	left := cut(" ● "+v.state, w)
	return v.paint(stateColor[v.state], left) + v.paint(dim, cut(" · "+hint, w-width(left)))
}
