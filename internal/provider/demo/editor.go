package demo

import (
	"slices"
	"unicode"
)

// editor is the input line. A pasted message may have several lines in it.
type editor struct {
	text []rune
	pos  int // the cursor stands before text[pos]

	past  []string // what was sent, oldest first
	at    int      // which of past is shown; len(past) is the line being written
	draft string   // that line, while one of past is shown
}

func (e *editor) set(s string) {
	e.text = []rune(s)
	e.pos = len(e.text)
}

func (e *editor) insert(s string) {
	r := []rune(s)
	e.text = slices.Insert(e.text, e.pos, r...)
	e.pos += len(r)
}

// remove deletes text[from:to] and puts the cursor there.
func (e *editor) remove(from, to int) {
	from, to = max(from, 0), min(to, len(e.text))
	e.text = slices.Delete(e.text, from, to)
	e.pos = from
}

// remember adds s to what up and down go through, and empties the line.
func (e *editor) remember(s string) {
	e.past = append(e.past, s)
	e.at = len(e.past)
	e.set("")
}

// recall shows the line step lines away from the one shown.
func (e *editor) recall(step int) {
	at := e.at + step
	if at < 0 || at > len(e.past) {
		return
	}
	if e.at == len(e.past) {
		e.draft = string(e.text)
	}
	e.at = at
	if at == len(e.past) {
		e.set(e.draft)
	} else {
		e.set(e.past[at])
	}
}

// edit applies a key that edits or moves in the line; other keys do nothing.
func (e *editor) edit(v event) {
	switch v.key {
	case keyText, keyPaste:
		e.insert(v.text)
	case keyNewline:
		e.insert("\n")
	case keyLeft:
		e.pos = max(e.pos-1, 0)
	case keyRight:
		e.pos = min(e.pos+1, len(e.text))
	case keyHome:
		e.pos = 0
	case keyEnd:
		e.pos = len(e.text)
	case keyUp:
		e.recall(-1)
	case keyDown:
		e.recall(+1)
	case keyBackspace:
		e.remove(e.pos-1, e.pos)
	case keyDelete:
		e.remove(e.pos, e.pos+1)
	case keyDeleteWord:
		e.remove(e.wordStart(), e.pos)
	case keyDeleteLeft:
		e.remove(0, e.pos)
	case keyDeleteRight:
		e.remove(e.pos, len(e.text))
	}
}

func (e *editor) wordStart() int {
	i := e.pos
	for i > 0 && unicode.IsSpace(e.text[i-1]) {
		i--
	}
	for i > 0 && !unicode.IsSpace(e.text[i-1]) {
		i--
	}
	return i
}
