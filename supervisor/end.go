package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"syscall"
	"time"

	"berth/clients"
	"berth/internal/atomicfile"
	"berth/internal/point"
	"berth/internal/protocol"
	"berth/internal/screen"
	"berth/launcher"
	"berth/manifest"

	"golang.org/x/sys/unix"
)

// ending is a client being ended because somebody asked.
type ending struct {
	cause    clients.Cause
	reason   string
	by       string
	next     bool               // another client of the run follows
	requests []manifest.Request // to be answered when all is over
	tree     *clients.Ended     // nil until the tree is ended
	err      error
}

// takeRequests looks at what commands have asked since the last look.
func (s *loop) takeRequests() {
	rs, err := s.dir.Pending(s.lastSeq)
	s.warn(err)
	for _, r := range rs {
		s.lastSeq = max(s.lastSeq, r.Seq)
		switch {
		case r.Overdue():
			s.refuse(r, "it came after its deadline")
		case r.Client != s.client.process.Process:
			s.refuse(r, fmt.Sprintf("it is meant for client %s, and %s is running", r.Client, s.client.process.Process))
		case r.Kind != manifest.RequestStop && r.Kind != manifest.RequestRestart:
			s.refuse(r, fmt.Sprintf("this supervisor does not know %q", r.Kind))
		default:
			s.end(&ending{cause: clients.Asked, reason: r.Reason, by: r.By, next: r.Kind == manifest.RequestRestart, requests: []manifest.Request{r}}, r.Spare)
		}
	}
}

func (s *loop) refuse(r manifest.Request, why string) {
	s.event("request refused", map[string]any{"seq": r.Seq, "why": why})
	s.warn(s.dir.Answer(manifest.Done{Seq: r.Seq, Message: why}))
}

// shutDown ends the client since the machine or the login is ending.
func (s *loop) shutDown() {
	s.end(&ending{cause: clients.Shutdown, reason: "the supervisor got SIGTERM"}, s.spec.Spare)
}

// end begins to end the client and its tree. A client already being ended gets the
// later wish too: the last request decides whether another client follows.
func (s *loop) end(e *ending, spare []string) {
	if s.ending != nil {
		s.ending.requests = append(s.ending.requests, e.requests...)
		s.ending.next = e.next
		return
	}
	s.ending = e
	s.setPhase(manifest.PhaseStopping)
	s.event("ending", map[string]any{"reason": e.reason, "by": e.by})
	point.Here("supervisor.ending")
	tree := s.tree(spare)
	grace := clients.Grace{Polite: s.polite}
	go func() {
		ended, err := clients.EndTree(context.Background(), tree, grace)
		s.post(func() { s.treeEnded(e, ended, err) })
	}()
}

func (s *loop) tree(spare []string) clients.TreeSpec {
	return clients.TreeSpec{
		Run: s.spec.Run, Roots: []clients.Identity{s.client.process.Process},
		Adopter: clients.Self(), Spare: spare, IsBorder: launcher.IsBorder,
	}
}

// polite asks the client to end in its provider's own way. It runs outside the
// loop and touches only what never changes while the client lives.
func (s *loop) polite() error {
	stop := s.spec.Provider.Stop
	if stop.Keys != "" {
		s.client.pty.typeIn(typing{data: []byte(stop.Keys)})
		return nil
	}
	return s.signalClient(stop.Number())
}

func (s *loop) signalClient(sig syscall.Signal) error {
	h, err := clients.Open(s.client.process.Process)
	if err != nil {
		return err
	}
	defer h.Close()
	return h.Signal(sig)
}

func (s *loop) treeEnded(e *ending, ended clients.Ended, err error) {
	e.tree, e.err = &ended, err
	root := s.client.process.Process
	for _, p := range ended.Left {
		if p.Identity == root { // it cannot be ended: it goes on being ours
			s.ending = nil
			s.answerAll(e, false, fmt.Sprintf("client %d could not be ended: %s", root.PID, p.Why))
			s.setPhase(manifest.PhaseRunning)
			return
		}
	}
	s.settle()
}

// settle finishes the client when its process has ended, its output is in, and, if
// it was being ended, its tree is gone too.
func (s *loop) settle() {
	c, e := s.client, s.ending
	if c.state == nil || !c.drained || e != nil && e.tree == nil {
		return
	}
	end := s.recordEnd(c, e)
	if e != nil {
		msg := ""
		if e.err != nil {
			msg = e.err.Error()
		}
		s.answerAll(e, e.err == nil && len(e.tree.Left) == 0, msg)
		point.Here("supervisor.answered")
	}
	c.pty.close()
	follows, wait := e != nil && e.next && s.wanted(), time.Duration(0)
	switch {
	case e != nil:
	case end.Outcome == clients.Failed && s.startFailed(c):
		s.event("start failed, and is tried again", map[string]any{"time": s.startFailures})
		s.sameAgain, wait, follows = true, startAgainAfter, true
	default:
		s.restarts, wait, follows = next(s.restarts, end.Outcome, time.Since(c.started), time.Now())
	}
	s.dismiss(s.closing())
	told := protocol.EndingOf(end, follows)
	told.AgainMS = wait.Milliseconds()
	s.tellEnded(told)
	s.ending = nil
	switch {
	case follows && e != nil: // as the policy would, without a wait: the requester was ended with the rest
		s.setPhase(manifest.PhaseBackoff)
		s.tryAgain()
	case follows:
		s.backOff(wait)
	default:
		if s.restarts.Held {
			s.event("held", map[string]any{"failures": len(s.restarts.Failures)})
		}
		s.setPhase(manifest.PhaseEnded)
		s.done = true
	}
}

// startAgainAfter is how soon a start that failed for nothing is tried again, and
// startTries how often.
const (
	startAgainAfter = 500 * time.Millisecond
	startTries      = 3
)

// startFailed reports whether the client ended before it took any input, for a reason
// that is known to pass.
func (s *loop) startFailed(c *client) bool {
	expr := s.spec.Provider.StartFails
	if c.ready || expr == "" || s.startFailures+1 >= startTries {
		return false
	}
	re, err := regexp.Compile(expr)
	s.warn(err)
	if err != nil || !re.Match(c.tail.Bytes()) {
		return false
	}
	s.startFailures++
	return true
}

// wanted reports whether the last word on the session is that its client should
// run. One that cannot be read says nothing.
func (s *loop) wanted() bool {
	w, err := s.dir.Wanted()
	s.warn(err)
	return err == nil && w.Want == manifest.WantRun
}

// earlyEnd is how long somebody waits for a client to be resumable, and wants to see
// what it said instead.
const earlyEnd = 30 * time.Second

// recordEnd writes the client's end, with what is left of its tree.
func (s *loop) recordEnd(c *client, e *ending) clients.End {
	ws := c.state.Sys().(syscall.WaitStatus)
	end := clients.End{Process: c.process.Process, EndedAt: time.Now(), Survivors: []int{}, Ended: 1}
	var sig syscall.Signal
	if ws.Signaled() {
		sig = ws.Signal()
		end.Signal = unix.SignalName(sig)
	} else {
		code := ws.ExitStatus()
		end.ExitCode = &code
	}
	cause := clients.ByItself
	if e != nil {
		cause, end.AskedBy, end.Reason = e.cause, e.by, e.reason
		end.Ended = e.tree.Count
		end.Survived(e.tree.Left)
	} else {
		end.Reason = describeStatus(ws)
		if left, err := clients.Scan(s.tree(s.spec.Spare)); err == nil {
			end.Survived(left.Processes)
		}
	}
	if e == nil && c.notStarted != nil {
		end.Reason = c.notStarted.Error()
	}
	end.Outcome = clients.OutcomeOf(end.ExitCode, sig, cause)
	if end.Outcome != clients.Completed || time.Since(c.started) < earlyEnd {
		s.keepScreen(c) // first: who sees the end looks for it
	}
	if err := clients.WriteEnd(string(s.dir), end); !errors.Is(err, fs.ErrExist) { // it may have ended by itself before
		s.warn(err)
	}
	s.event("ended", map[string]any{"outcome": end.Outcome, "reason": end.Reason, "processes": end.Ended, "survivors": len(end.Survivors)})
	return end
}

// keepScreen keeps the last screen of a client that failed or ended early, with the opening
// request and the values of its environment masked.
func (s *loop) keepScreen(c *client) {
	lines := screen.Text(c.tail.Bytes(), c.size.Cols, c.size.Rows)
	text := launcher.Mask(strings.Join(lines, "\n"), s.spec)
	s.warn(atomicfile.Write("last-screen", s.dir.Path("last-screen.txt"), []byte(strings.TrimRight(text, "\n")+"\n")))
}

func (s *loop) answerAll(e *ending, ok bool, msg string) {
	for _, r := range e.requests {
		d := manifest.Done{Seq: r.Seq, OK: ok, Message: msg, Ended: e.tree.Count}
		for _, p := range e.tree.Left {
			d.Left = append(d.Left, p.PID)
		}
		for _, p := range e.tree.Spared {
			d.Spared = append(d.Spared, fmt.Sprintf("%s (%d)", p.Name, p.PID))
		}
		for _, p := range e.tree.Unverified {
			d.Unverified = append(d.Unverified, p.PID)
		}
		s.warn(s.dir.Answer(d))
	}
}

func describeStatus(ws syscall.WaitStatus) string {
	if ws.Signaled() {
		return "ended by " + unix.SignalName(ws.Signal())
	}
	return fmt.Sprintf("exited with status %d", ws.ExitStatus())
}
