package screen

import "unicode"

// wideRest fills the second cell of a wide character.
const wideRest = 0

type cursor struct{ x, y int } // x may be cols: the next character wraps

// grid is the screen Text draws on. Rows are as long as what was written in
// them, so that erasing is cheap however often the output asks for it.
type grid struct {
	cols, rows int
	cells      [][]rune
	cursor
	saved    cursor
	top, bot int // margins, both inside

	alt       bool
	main      [][]rune // the main screen while the alternate one is shown
	mainSaved cursor
}

func newGrid(cols, rows int) *grid {
	return &grid{cols: cols, rows: rows, cells: make([][]rune, rows), bot: rows - 1}
}

func (g *grid) print(r rune) {
	w := width(r)
	if w == 0 || w > g.cols {
		return
	}
	if g.x+w > g.cols {
		g.x = 0
		g.lineFeed()
	}
	row := g.cells[g.y]
	for len(row) < g.x+w {
		row = append(row, ' ')
	}
	if row[g.x] == wideRest && g.x > 0 {
		row[g.x-1] = ' '
	}
	row[g.x] = r
	if w == 2 {
		row[g.x+1] = wideRest
	}
	if g.x += w; g.x < len(row) && row[g.x] == wideRest {
		row[g.x] = ' '
	}
	g.cells[g.y] = row
}

func (g *grid) lineFeed() {
	if g.y == g.bot {
		g.scroll(g.top, 1)
	} else {
		g.y = min(g.y+1, g.rows-1)
	}
}

func (g *grid) move(x, y int) {
	g.x = min(max(x, 0), g.cols-1)
	g.y = min(max(y, 0), g.rows-1)
}

// scroll moves the rows from top to the bottom margin up by n, down if
// negative.
func (g *grid) scroll(top, n int) {
	if top < g.top || top > g.bot {
		return
	}
	rows := g.cells[top : g.bot+1]
	n = min(max(n, -len(rows)), len(rows))
	if n >= 0 {
		copy(rows, rows[n:])
		clear(rows[len(rows)-n:])
	} else {
		copy(rows[-n:], rows)
		clear(rows[:-n])
	}
}

func (g *grid) margins(top, bot int) {
	if bot < 0 || bot >= g.rows {
		bot = g.rows - 1
	}
	if top < bot {
		g.top, g.bot = top, bot
		g.move(0, 0)
	}
}

// blank erases the cells from x to end of the cursor's row.
func (g *grid) blank(x, end int) {
	row := g.cells[g.y]
	if end >= len(row) {
		g.cells[g.y] = row[:min(x, len(row))]
		return
	}
	for ; x < end; x++ {
		row[x] = ' '
	}
}

func (g *grid) eraseLine(how int) {
	switch how {
	case 0:
		g.blank(g.x, g.cols)
	case 1:
		g.blank(0, g.x+1)
	case 2:
		g.blank(0, g.cols)
	}
}

func (g *grid) eraseScreen(how int) {
	switch how {
	case 0:
		clear(g.cells[g.y+1:])
		g.eraseLine(0)
	case 1:
		clear(g.cells[:g.y])
		g.eraseLine(1)
	case 2:
		clear(g.cells)
	}
}

// alternate shows the alternate screen, empty, or the main one as it was.
func (g *grid) alternate(on bool) {
	if on == g.alt {
		return
	}
	g.alt = on
	if on {
		g.main, g.mainSaved = g.cells, g.cursor
		g.cells = make([][]rune, g.rows)
	} else {
		g.cells, g.cursor = g.main, g.mainSaved
	}
}

// width is how many cells r takes: 0 for what is not printed by itself.
func width(r rune) int {
	switch {
	case r < 0x20 || r >= del && r < 0xa0:
		return 0
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf && r != 0x303f, r >= 0xac00 && r <= 0xd7a3,
		r >= 0xf900 && r <= 0xfaff, r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6,
		r >= 0x1f300 && r <= 0x1f64f, r >= 0x1f680 && r <= 0x1f6ff, r >= 0x1f900 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}
