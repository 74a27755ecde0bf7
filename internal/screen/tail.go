package screen

import "bytes"

// tailBytes is how much a zero Tail keeps: some hundred lines, or a dozen
// full repaints.
const tailBytes = 64 << 10

// Tail keeps the most recent output. The zero Tail keeps 64 KiB. One goroutine
// may use it at a time.
type Tail struct {
	capacity int
	buf      []byte // a ring once it is full
	next     int    // where the oldest byte is, and the next goes, once full
	begin    place  // where the stream stood before the oldest byte
	lost     bool   // something came before the oldest byte
}

// Write adds output, which should be a Scanner's: queries in it would be asked
// again when it is replayed. It never fails, and does not keep p.
func (t *Tail) Write(p []byte) (int, error) {
	n := len(p)
	if t.capacity <= 0 {
		t.capacity = tailBytes
	}
	if room := t.capacity - len(t.buf); room > 0 {
		room = min(room, len(p))
		t.buf = append(t.buf, p[:room]...)
		p = p[room:]
	}
	if over := len(p) - t.capacity; over > 0 {
		t.begin.advance(t.buf[t.next:])
		t.begin.advance(t.buf[:t.next])
		t.begin.advance(p[:over])
		t.next, t.lost = 0, true
		copy(t.buf, p[over:])
		return n, nil
	}
	for len(p) > 0 {
		oldest := t.buf[t.next:]
		k := min(len(oldest), len(p))
		t.begin.advance(oldest[:k])
		t.lost = true
		copy(oldest, p[:k])
		p = p[k:]
		t.next = (t.next + k) % t.capacity
	}
	return n, nil
}

// Bytes returns a copy of the recent output, safe to replay on a terminal: it
// begins between characters and sequences, after a line's end if one is near,
// and lacks what does not draw but acts, the bell, notifications and clipboard
// writes. It ends where the output does, which may be inside a sequence. Modes
// set before its beginning are not in it; Modes.Restore goes after it.
func (t *Tail) Bytes() []byte {
	b := make([]byte, 0, len(t.buf))
	b = append(b, t.buf[t.next:]...)
	b = append(b, t.buf[:t.next]...)
	if t.lost {
		b = b[boundary(t.begin, b):]
	}
	out := b[:0] // never ahead of what is read
	for kind, p := range pieces(b) {
		switch {
		case kind == text:
			for _, c := range p {
				if c != bel {
					out = append(out, c)
				}
			}
		case kind == sequence && acts(p):
			out = append(out, st...) // it may have cut short what came before
		default:
			out = append(out, p...)
		}
	}
	return out
}

// Whole reports whether Bytes begins where the output did: nothing of it is lost.
func (t *Tail) Whole() bool { return !t.lost }

// boundary is the first good place in b, which begins at from, to start a
// replay: after a line's end in the first quarter, else the first in ground, else
// the end.
func boundary(from place, b []byte) int {
	first := -1
	if from.ground() {
		first = 0
	}
	for i := range b {
		from.advance(b[i : i+1])
		if !from.ground() {
			continue
		}
		if b[i] == '\n' {
			return i + 1
		}
		if first < 0 {
			first = i + 1
		}
		if i >= len(b)/4 {
			return first
		}
	}
	if first < 0 {
		return len(b) // all of it is inside one long string
	}
	return first
}

// acts reports whether seq does something beyond the picture: OSC 9, 99 and
// 777 notify, OSC 52 writes the clipboard.
func acts(seq []byte) bool {
	if seq[1] != ']' {
		return false
	}
	num, _, _ := bytes.Cut(seq[2:], []byte(";"))
	switch oscNumber(string(num)) {
	case 9, 52, 99, 777:
		return true
	}
	return false
}
