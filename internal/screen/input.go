package screen

import "bytes"

const detachKey = 0x1c // ctrl-\ as terminals without key protocols send it

// Input reads what a host's terminal sends. The zero Input stands at the start
// of it. One goroutine may use it at a time.
type Input struct {
	// NoDetach makes the detach key a key like any other.
	NoDetach bool

	held    []byte // an unfinished sequence
	paste   bool   // between ESC[200~ and ESC[201~
	closing int    // inside a paste: how many bytes of ESC[201~ have come
	cprs    int    // cursor position reports still expected

	buf  []byte // held and new bytes joined
	keys []byte // keys with something taken out between them
}

// InputResult is what a stretch of input meant. Its slices are valid until the
// argument of Feed changes or the next call, replies for ever.
type InputResult struct {
	// Keys are for the client: keys, pastes, mouse and focus reports, byte for
	// byte. They alias Feed's argument where they can.
	Keys    []byte
	Replies []Reply // what the terminal answered, in order
	// Detach says that the detach key came, after Keys and Replies. It is no
	// part of Keys.
	Detach bool
	After  []byte // what came after the detach key, unread
}

// Reply is an answer of a terminal, taken out of its input.
type Reply struct {
	Kind Kind // of the query that asks for it
	Raw  []byte
	At   int // its place: how many bytes of the result's Keys came before it
}

// Expect says that one query of this kind has gone to the terminal. It matters
// for CPR only: ESC[1;2R to ESC[1;16R are also F3 with a modifier, and count
// as that when no report is expected.
func (in *Input) Expect(k Kind) {
	if k == CPR {
		in.cprs++
	}
}

// Feed takes in the next bytes of the terminal. An unfinished sequence is held
// for the next Feed; when none comes it was a key, see Held.
func (in *Input) Feed(p []byte) InputResult {
	if len(in.held) > 0 {
		in.buf = append(append(in.buf[:0], in.held...), p...)
		in.held = in.held[:0]
		p = in.buf
	}
	in.keys = in.keys[:0]
	var res InputResult
	from, end := 0, len(p) // p[from:end] are keys not in in.keys yet
	for i := 0; i < end; {
		if in.paste {
			i += in.pasted(p[i:])
			continue
		}
		i += plain(p[i:])
		if i == len(p) {
			break
		}
		n, what := 1, meaning{}
		if p[i] == esc {
			n, what = in.sequence(p[i:])
		} else if !in.NoDetach {
			what.detach = true
		}
		switch {
		case what.unfinished:
			in.held = append(in.held, p[i:]...)
			end = i
		case what.detach:
			res.Detach = true
			res.After = p[i+n:]
			end = i
		case what.reply != 0:
			in.keys = append(in.keys, p[from:i]...)
			res.Replies = append(res.Replies, Reply{what.reply, bytes.Clone(p[i : i+n]), len(in.keys)})
			i += n
			from = i
		default:
			in.paste = what.paste
			i += n
		}
	}
	res.Keys = p[from:end:end]
	if len(in.keys) > 0 {
		in.keys = append(in.keys, res.Keys...)
		res.Keys = in.keys
	}
	return res
}

// pasted follows a paste to its end, if that is in p, and returns how far.
// Nothing of a paste is held back.
func (in *Input) pasted(p []byte) int {
	for i := 0; i < len(p); {
		switch {
		case in.closing == 0:
			n := bytes.IndexByte(p[i:], esc)
			if n < 0 {
				return len(p)
			}
			i += n + 1
			in.closing = 1
		case p[i] != pasteClose[in.closing]:
			in.closing = 0 // and p[i] may be the ESC of another
		default:
			i++
			if in.closing++; in.closing == len(pasteClose) {
				in.paste, in.closing = false, 0
				return i
			}
		}
	}
	return len(p)
}

// plain counts the bytes before the next ESC or ctrl-\.
func plain(p []byte) int {
	for i, b := range p {
		if b == esc || b == detachKey {
			return i
		}
	}
	return len(p)
}

// Held reports whether the last bytes are held back, because more of them may
// follow or because a person pressed Escape: a host waits some 25 ms for more
// and then calls Flush.
func (in *Input) Held() bool { return len(in.held) > 0 }

// Flush returns the bytes held back, now keys; nil if there are none. They are
// valid until the next call.
func (in *Input) Flush() []byte {
	if len(in.held) == 0 {
		return nil
	}
	in.keys = append(in.keys[:0], in.held...)
	in.held = in.held[:0]
	return in.keys
}

// PasteOpen reports whether the client has got the start of a paste and not
// its end.
func (in *Input) PasteOpen() bool { return in.paste }

// ClosePaste returns what ends an open paste for the client when the terminal
// will not, and ends it here; nil if none is open.
func (in *Input) ClosePaste() []byte {
	if !in.paste {
		return nil
	}
	in.paste, in.closing = false, 0
	return []byte(pasteClose)
}
