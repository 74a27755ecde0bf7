package screen

import "bytes"

// maxHeldBytes bounds what a Scanner or an Input holds back, and so the longest
// sequence that can be a query, a title or a reply. Real ones are below 200.
const maxHeldBytes = 4 << 10

// Scanner reads the client's output on its way to the hosts: it removes the
// queries and keeps the modes. The zero Scanner stands at the start of a
// stream, on a terminal in default modes. One goroutine may use it at a time.
type Scanner struct {
	place
	modes  Modes
	status []string

	// The sequence being read, when it began in an earlier Feed.
	seq  []byte // its bytes, up to maxHeldBytes
	size int    // how many there were
	held []byte // the bytes of it kept back from hosts
	sent bool   // some of it went to the hosts, so it cannot be removed
	// The sequence's ESC cut short a sequence or character that hosts have the
	// start of: removing it alone would let them go on with that.
	inside bool

	out []byte // the result of Feed, when it could not alias the argument
}

// Feed takes in the next bytes of the client and returns those for the hosts,
// with queries removed, and the queries, in order. Out aliases p if nothing
// was removed from or held in front of it, else a buffer of the Scanner: in
// both cases it is valid until p changes or the next call. Queries own their
// bytes.
//
// An unfinished sequence that may become a query stays behind for the next
// Feed. Sequences longer than 4 KiB are never queries. A query that cuts short
// an unfinished sequence is replaced by an ST, which ends that sequence in the
// hosts' terminals as the query would have; controls inside a query, which
// terminals obey at once, stay in the stream.
func (s *Scanner) Feed(p []byte) (out []byte, qs []Query) {
	if len(p) == 0 {
		return nil, nil
	}
	s.out = s.out[:0]
	from := 0    // p[from:] is not in s.out yet
	start := 0   // where the current sequence begins in p; 0 if it did earlier
	voided := -1 // where a byte ended a sequence without being part of it
	for i := 0; i < len(p); {
		if s.lex == ground {
			n := bytes.IndexByte(p[i:], esc)
			if n < 0 {
				s.text(p[i:])
				break
			}
			s.text(p[i : i+n])
			i += n
			if n := s.common(p[i:]); n > 0 {
				s.need = 0
				i += n
				continue
			}
			s.begin(s.need > 0 || voided == i)
			start = i
			i++
			continue
		}
		switch s.lex.step(p[i]) {
		case more:
			i++
			if s.lex.inString() {
				i += payload(p[i:])
			}
		case done:
			i++
			whole := s.keep(p[start:i])
			q, ok := parseQuery(whole)
			if !ok || s.sent {
				s.release()
				s.modes.apply(whole)
				s.hear(whole)
				continue
			}
			s.out = append(s.out, p[from:start]...)
			if s.inside {
				s.out = append(s.out, st...)
			}
			s.out = appendControls(s.out, whole)
			qs = append(qs, q)
			s.held = s.held[:0]
			from = i
		case void:
			if s.lex == ground {
				s.release()
				voided = i
			} else {
				start = s.beginEarlier(i, start)
			}
		}
	}
	end := len(p)
	if s.lex != ground {
		end = s.hold(p, start)
	}
	if len(s.out) == 0 {
		return p[from:end:end], qs
	}
	s.out = append(s.out, p[from:end]...)
	return s.out, qs
}

// hear notes what an agent says of its state.
func (s *Scanner) hear(seq []byte) {
	if text, ok := bytes.CutPrefix(seq, []byte("\x1b]7501;")); ok {
		status := cleanTitle(bytes.TrimSuffix(bytes.TrimSuffix(text, []byte(st)), []byte("\a")))
		if n := len(s.status); n == maxStatus {
			s.status[n-1] = status
		} else {
			s.status = append(s.status, status)
		}
	}
}

// maxStatus is how much of what a client says of its state is kept until it is asked for.
const maxStatus = 64

// Status is what the client said by OSC 7501 since the last call, each cleaned like a
// title: agents tell their state by it. Of very much the end is left out, but the last.
func (s *Scanner) Status() []string {
	said := s.status
	s.status = nil
	return said
}

// common deals with what p begins with if that is one of the sequences that
// agents write most, and returns its length, else 0. All that it does, Feed
// does too, only slower.
func (s *Scanner) common(p []byte) int {
	n := csiLen(p)
	if n == 0 || n > maxHeldBytes {
		return 0
	}
	seq := p[:n]
	switch final := seq[n-1]; {
	case draws(seq):
	case final == 'h' || final == 'l':
		if c, ok := parseCSI(seq); ok {
			s.modes.applyCSI(c)
		}
	default:
		return 0
	}
	return n
}

// begin starts a sequence at its ESC.
func (s *Scanner) begin(inside bool) {
	s.lex = escape
	s.need, s.size = 0, 0
	s.seq, s.held = s.seq[:0], s.held[:0]
	s.sent, s.inside = false, inside
}

// beginEarlier starts a sequence with the ESC before p[i], until now thought
// part of the string that began at start, and returns where it is.
func (s *Scanner) beginEarlier(i, start int) int {
	if i > start {
		s.release()
		s.begin(true)
		return i - 1
	}
	// The ESC came in an earlier Feed. It was held then, or flushed since.
	flushed := len(s.held) == 0
	if !flushed {
		s.out = append(s.out, s.held[:len(s.held)-1]...)
	}
	s.begin(true)
	s.keep([]byte{esc})
	if s.sent = flushed; !flushed {
		s.held = append(s.held, esc)
	}
	return i
}

// keep adds part to the sequence being read and returns the whole of it, nil
// if that is too long to mean anything here. A whole that came in one part is
// not copied.
func (s *Scanner) keep(part []byte) []byte {
	first := s.size == 0
	s.size += len(part)
	if s.size > maxHeldBytes {
		return nil
	}
	if first && s.lex == ground {
		return part
	}
	s.seq = append(s.seq, part...)
	return s.seq
}

// hold decides at the end of a Feed what of the unfinished sequence, which
// goes on from start, hosts must not see yet, and returns where that begins.
func (s *Scanner) hold(p []byte, start int) (end int) {
	seq := s.keep(p[start:])
	switch {
	case !s.sent && seq != nil && mayBeQuery(s.lex, seq):
		end = start
	case s.lex == stringEsc:
		// The string is no query, but its ESC may yet begin one.
		s.release()
		s.sent = true
		end = len(p) - 1
	default:
		s.release()
		s.sent = true
		end = len(p)
	}
	s.held = append(s.held, p[end:]...)
	return end
}

// release lets the held bytes go to the hosts, in front of anything of p.
func (s *Scanner) release() {
	s.out = append(s.out, s.held...)
	s.held = s.held[:0]
}

// Flush returns the held bytes, nil if there are none, valid until the next
// call, and holds nothing any more. What they began, be it a query, then goes
// to the hosts whole.
func (s *Scanner) Flush() []byte {
	if len(s.held) == 0 {
		return nil
	}
	s.out = append(s.out[:0], s.held...)
	s.held = s.held[:0]
	s.sent = true
	return s.out
}

// Held is how many bytes are held back.
func (s *Scanner) Held() int { return len(s.held) }

// Ground reports whether the stream stands between two characters or
// sequences, so that other bytes can be put there.
func (s *Scanner) Ground() bool { return s.ground() }

// Modes returns the modes after everything fed that was complete.
func (s *Scanner) Modes() Modes { return s.modes }
