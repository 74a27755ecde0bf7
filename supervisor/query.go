package supervisor

import (
	"berth/internal/protocol"
	"berth/internal/screen"
)

// maxQueries is how many queries may wait behind one that a terminal was asked.
// Agents ask a dozen; what asks more is a flood that nobody reads the answers of.
const maxQueries = 256

// query is a question of the client that only a real screen can answer, on its way
// to the holder's terminal.
type query struct {
	screen.Query
	to *host
}

// answer answers a query of the client, once, and in the order asked, as terminals
// do: agents ask what only some terminals know, then what all know, and take the
// second answer without the first for a no.
func (s *loop) answer(q screen.Query) {
	if len(s.queries) < maxQueries {
		s.queries = append(s.queries, q)
	}
	s.answerNext()
}

// answerNext answers what waits, up to the next question that a terminal is asked:
// by ourselves, or, where only a real screen can, by the holder's terminal.
func (s *loop) answerNext() {
	for s.asked == nil && len(s.queries) > 0 {
		q := s.queries[0]
		s.queries = s.queries[1:]
		if reply, ok := screen.Answer(q, s.terminal()); ok {
			s.client.pty.typeIn(typing{data: reply})
		} else if screen.NeedsScreen(q) {
			s.ask(q)
		}
	}
}

// ask asks the holder's terminal, else a mirror's. One that does not answer in time,
// or none at all, is answered for; it is not asked again until it has answered.
func (s *loop) ask(q screen.Query) {
	to := s.keyboard
	if to == nil && len(s.hosts) > 0 {
		to = s.hosts[0]
	}
	if to == nil || to.stalled || to.mute {
		s.answerBlind(q)
		return
	}
	asked := &query{q, to}
	s.asked = asked
	to.out.put(protocol.Query, q.Raw)
	s.after(queryWait, func() {
		if s.asked == asked {
			to.mute = true
			s.asked = nil
			s.answerBlind(q)
			s.answerNext()
		}
	})
}

// askAgain is called when the keyboard has moved: the terminal that was asked is no
// longer the client's, and its answer is nobody's.
func (s *loop) askAgain() {
	if s.asked == nil || s.asked.to == s.keyboard {
		return
	}
	q := s.asked.Query
	s.asked = nil
	s.ask(q)
	s.answerNext()
}

// answered passes on what h's terminal answered, unless that came too late.
func (s *loop) answered(h *host, reply []byte) {
	h.mute = false
	if s.asked == nil || s.asked.to != h {
		return
	}
	s.asked = nil
	s.client.pty.typeIn(typing{data: reply})
	s.answerNext()
}

// answerBlind says the cursor is in the corner: a client that waits for an answer
// would hang without one.
func (s *loop) answerBlind(q screen.Query) {
	reply := "\x1b[1;1R"
	if q.Kind == screen.DECXCPR {
		reply = "\x1b[?1;1R"
	}
	s.client.pty.typeIn(typing{data: []byte(reply)})
}
