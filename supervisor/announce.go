package supervisor

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"berth/internal/point"
	"berth/manifest"
)

// knowNative writes down the native id that is known before the start.
func (s *loop) knowNative() error {
	n, err := s.dir.Native()
	if err != nil {
		return err // an unreadable one is not replaced: it may be the only word of the conversation
	}
	s.native = n
	if s.spec.NativeID == "" || s.spec.NativeID == n.NativeID {
		return nil
	}
	return s.learn(manifest.Announcement{NativeID: s.spec.NativeID, Source: "chosen", At: rfc3339(time.Now())})
}

// learn merges an announcement into the native id's record, if it changes it.
func (s *loop) learn(a manifest.Announcement) error {
	n := s.native.Merge(a)
	n.Provider = s.spec.Provider.Name
	if n.NativeID == "" || n.NativeID == s.native.NativeID && n.Recorded == s.native.Recorded &&
		n.HistoryPath == s.native.HistoryPath && n.Account == s.native.Account {
		return nil
	}
	if err := s.dir.WriteNative(n); err != nil {
		return err
	}
	if n.NativeID != s.native.NativeID {
		s.event("identified", map[string]any{"native_id": n.NativeID, "source": n.Source})
	}
	if n.Recorded && !s.native.Recorded {
		s.event("recorded", map[string]any{"native_id": n.NativeID})
	}
	s.native = n
	return nil
}

// takeInbox merges what the agent and its hooks have announced.
func (s *loop) takeInbox() {
	as, err := s.dir.Inbox()
	s.warn(err)
	for _, a := range as {
		s.merge(a)
	}
	s.sendPrompt() // again, if its marker could not be written before
}

// merge takes what is known of the agent now: its conversation, its turn, that it
// takes input.
func (s *loop) merge(a manifest.Announcement) {
	c := s.client
	s.warn(s.learn(a))
	if s.settles(a) {
		return
	}
	turned := a.Turn != "" && (a.Turn != c.turn.State || a.WaitingFor != c.turn.WaitingFor)
	if turned {
		done := c.turn.Ended
		c.worked = c.worked || c.ready && a.Turn == manifest.TurnBusy
		if a.Turn == manifest.TurnIdle && (c.turn.State == manifest.TurnBusy || c.turn.State == manifest.TurnWaiting) {
			done++
		}
		c.turn = manifest.Turn{State: a.Turn, WaitingFor: a.WaitingFor, Source: a.Source, Since: a.At, Ended: done}
		s.event("turn", map[string]any{"state": a.Turn})
	}
	switch {
	case a.Ready && !c.ready:
		s.becomeReady()
	case turned:
		s.record()
	}
	if sub := c.submission; sub != nil && turned && a.Turn != manifest.TurnIdle {
		sub.proven = true
		s.prove(c, sub) // after the record: who is told so looks there
	}
}

// settles reports whether it is yet to be seen that an idle agent stays so for the time
// it takes to be ready; a comes again when it has.
func (s *loop) settles(a manifest.Announcement) bool {
	c, settle := s.client, s.spec.Provider.Settle
	if s.spec.Resume {
		settle = max(settle, s.spec.Provider.SettleResumed)
	}
	if c.ready || settle == 0 || a.Turn == "" || c.settled {
		return false
	}
	idle := a.Turn == manifest.TurnIdle && a.Ready
	switch {
	case idle && c.settling != nil:
		return true
	case !idle && c.settling != nil:
		c.settling.Stop()
		c.settling = nil
		return false
	case !idle:
		return false
	}
	c.settling = s.after(settle, func() {
		if s.client != c || c.ready || c.settling == nil {
			return
		}
		c.settling = nil
		if sign, ok := s.dialog(); ok { // idle, it says, and asks
			s.merge(sign.announcement())
			return
		}
		c.settled = true
		s.merge(a)
	})
	return true
}

// lookAtHistorySoon looks, shortly after output, for what the agent does not
// announce: its id in a file, its history on disk. An agent may write that down a while
// after it has said it, so after a turn it is looked for again, ever later. An idle agent
// that nothing was said to costs nothing.
func (s *loop) lookAtHistorySoon() {
	s.client.patience = historyLook
	s.lookAtHistoryIn(historyLook)
}

func (s *loop) lookAtHistoryIn(d time.Duration) {
	c := s.client
	if c.history != nil || s.native.NativeID != "" && s.native.Recorded {
		return
	}
	c.history = s.after(d, func() {
		c.history = nil
		if s.client != c || c.state != nil {
			return
		}
		s.lookAtHistory()
		if c.patience *= 2; c.turn.Ended > 0 && c.patience < historyPatience {
			s.lookAtHistoryIn(c.patience)
		}
	})
}

func (s *loop) lookAtHistory() {
	spec := s.spec
	now := rfc3339(time.Now())
	s.identify()
	if s.native.NativeID == "" {
		path, err := spec.Provider.NativeFile(spec.Values())
		if err != nil || path == "" {
			return
		}
		if id := firstLine(path); id != "" {
			s.warn(s.learn(manifest.Announcement{NativeID: id, Source: "file", At: now}))
		}
	}
	if s.native.NativeID == "" || s.native.Recorded {
		return
	}
	path := ""
	if announced := s.native.HistoryPath; announced == "" {
		path = s.findHistory(s.native.NativeID) // where the adapter says
	} else if st, err := os.Stat(announced); err == nil && st.Size() > 0 {
		path = announced
	}
	if path != "" {
		s.warn(s.learn(manifest.Announcement{NativeID: s.native.NativeID, Recorded: true, HistoryPath: path, Source: "file", At: now}))
	}
}

// firstLine is the first line of a small file, without blanks; "" if there is none.
func firstLine(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // read only
	buf := make([]byte, 512)
	n, _ := f.Read(buf)
	line, _, whole := strings.Cut(string(buf[:n]), "\n")
	if !whole {
		return "" // still being written
	}
	return strings.TrimSpace(line)
}

// becomeReady notes that the agent takes input, and sends what waits for it.
func (s *loop) becomeReady() {
	s.client.ready = true
	s.startFailures = 0
	s.event("ready", nil)
	s.raiseAll()
	s.sendPrompt()
	s.record()
}

// sendPrompt types the opening request, once: the marker goes to disk before the
// first byte goes out, and whoever finds it never sends again.
func (s *loop) sendPrompt() {
	c := s.client
	if c.prompt != manifest.PromptWaiting || !c.ready {
		return
	}
	err := s.dir.MarkPromptSent()
	if errors.Is(err, fs.ErrExist) {
		c.prompt = manifest.PromptSent
		return
	}
	if err != nil {
		s.warn(err) // not marked, so not sent; it stays waiting and says so
		return
	}
	c.prompt = manifest.PromptSending
	s.record() // whoever finds this and no supervisor cannot tell how much of it went out
	point.Here("supervisor.prompt-marked")
	s.submit(s.spec.Prompt, func() {
		c.prompt = manifest.PromptSent
		s.event("opening request typed", nil)
		s.record()
	}, func(bool) {})
}
