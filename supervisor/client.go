package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"time"

	"berth/clients"
	"berth/internal/atomicfile"
	"berth/internal/point"
	"berth/internal/protocol"
	"berth/internal/provider"
	"berth/internal/screen"
	"berth/launcher"
	"berth/manifest"
)

// client is the state of one client, from its gate to its end.
type client struct {
	process *launcher.Client
	pty     *ptyIO
	scanner *screen.Scanner
	tail    *screen.Tail
	size    protocol.Size
	started time.Time

	ready   bool
	pattern *regexp.Regexp // output that means ready; nil when output does not tell
	turn    manifest.Turn
	prompt  string

	submission *submission // the message that is on its way; nil: none
	worked     bool        // it has had a turn
	halfTyped  bool        // the holder has typed and not ended a line

	settling      *time.Timer // it is ready when it is still idle then; nil: no such wait
	settled       bool        // it was
	signs         []sign
	idleSince     int64          // since when its registry says idle, in milliseconds; 0: it does not
	title, status string         // the last that were looked at
	held          *regexp.Regexp // of the file it holds open for its conversation; nil: there is none
	glance        *time.Timer    // a look at the screen is due
	over          chan struct{}  // closed when its process has ended

	flush    *time.Timer      // releases what the scanner holds back
	history  *time.Timer      // a look at the history is due
	patience time.Duration    // how long after the one before it is
	state    *os.ProcessState // nil while it lives
	drained  bool             // its last output is in

	notStarted error // why its gate could not become it
}

// start makes the next client: gate, receipt, then the gate opens. On an error
// nothing runs and nothing is left but what the files say.
func (s *loop) start() error {
	pattern, err := s.spec.Provider.ReadyPattern()
	if err != nil {
		return err
	}
	signs, err := compile(s.spec.Provider.Signs)
	if err != nil {
		return err
	}
	gate := s.gate
	if s.gate = nil; gate == nil {
		if gate, err = launcher.StartGate(s.spec.Client); err != nil {
			return err
		}
	}
	c := &client{
		scanner: new(screen.Scanner), tail: new(screen.Tail), size: s.spec.Client.Size, started: time.Now(),
		pattern: pattern, ready: s.spec.Provider.Ready == provider.ReadyStart, prompt: manifest.PromptNone,
		signs: signs, over: make(chan struct{}),
	}
	if last, err := s.dir.Supervisor(); err == nil { // of the client before
		c.turn.Ended = last.Turn.Ended
	}
	if expr := s.spec.Provider.HeldOpen; expr != "" {
		if c.held, err = regexp.Compile(expr); err != nil {
			return err
		}
	}
	if s.spec.Prompt != nil {
		c.prompt = manifest.PromptWaiting
	}
	point.Here("supervisor.gate-spawned")
	if err := s.evidence(gate); err != nil {
		shut(gate) // no client without a receipt
		return err
	}
	point.Here("supervisor.receipt")
	if err := s.mayOpen(c); err != nil {
		shut(gate)
		s.warn(clients.WriteEnd(string(s.dir), clients.End{
			Process: gate.Process, Outcome: clients.Failed, Reason: err.Error(), Ended: 1, EndedAt: time.Now(),
		}))
		return err
	}
	point.Here("supervisor.may-open")
	openErr := gate.Open()
	point.Here("supervisor.opened")
	c.process, c.pty = gate, newPTY(gate.PTY)
	s.client = c
	s.asked, s.queries = nil, nil // an answer to the client before is nobody's
	s.terminalIn.Store(c.pty)
	s.phase, s.phaseSince = manifest.PhaseRunning, time.Now()
	s.record()
	if openErr != nil {
		s.event("not started", map[string]any{"error": openErr.Error()})
		s.warn(openErr)
		c.tail.Write(fmt.Appendf(nil, "berth: %v\r\n", openErr))
		c.notStarted = openErr
	}
	go s.await(c)
	s.warn(s.watchRegistry(c))
	if c.ready {
		s.sendPrompt()
	}
	return nil
}

// evidence writes down, in this order, whose conversation it is, who supervises it,
// and last the receipt of the client that gate is to be.
func (s *loop) evidence(gate *launcher.Client) error {
	if err := s.knowNative(); err != nil {
		return err
	}
	for _, f := range s.spec.Provider.Files {
		if err := atomicfile.Write("agent-file", f.Path(string(s.dir)), []byte(f.Content)); err != nil {
			return err
		}
	}
	if err := s.dir.WriteSupervisor(s.describe()); err != nil {
		return err
	}
	return clients.WriteReceipt(string(s.dir), clients.Receipt{
		Process: gate.Process, Session: s.spec.Session, Run: s.spec.Run, Attempt: s.spec.Attempt,
		Provider: s.spec.Provider.Name, Executable: s.spec.Client.Path, NativeID: s.native.NativeID,
		Supervisor: clients.Self(), StartedAt: time.Now(),
	})
}

// mayOpen ends the launch, which can no longer be given up then, and notes an opening
// request that goes out as the gate opens. On an error the gate must stay shut:
// whoever gave the launch up relies on it.
func (s *loop) mayOpen(c *client) error {
	err := s.dir.FinishLaunch()
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("too late for run %s: its launch was given up before its client began", s.spec.Run)
	}
	s.warn(err) // readers see the launch as under way until its deadline
	if !s.spec.PromptInArgv {
		return nil
	}
	c.prompt = manifest.PromptSent
	return s.dir.MarkPromptSent()
}

// shut ends a gate that is not to open.
func shut(gate *launcher.Client) {
	gate.Abandon()   //nolint:errcheck // it ends either way
	gate.Wait()      // as above
	gate.PTY.Close() //nolint:errcheck // unused
}

// await brings the client's end to the loop.
func (s *loop) await(c *client) {
	state := c.process.Wait()
	s.post(func() { s.exited(c, state) })
}

// output takes what the client wrote: queries are answered and taken out, the rest
// goes to the hosts.
func (s *loop) output(chunk []byte) {
	c := s.client
	reports := c.scanner.Modes().InBandResize
	out, queries := c.scanner.Feed(chunk)
	s.distribute(out)
	c.pty.free <- chunk[:cap(chunk)]
	for _, q := range queries {
		s.answer(q)
	}
	if !reports && c.scanner.Modes().InBandResize { // asking for reports asks for the first one
		c.pty.typeIn(typing{data: s.terminal().ResizeReport()})
	}
	if len(s.landing) > 0 && c.scanner.Ground() {
		s.landed()
	}
	if c.flush == nil && c.scanner.Held() > 0 {
		c.flush = s.after(flushAfter, func() {
			c.flush = nil
			s.distribute(c.scanner.Flush())
		})
	}
	if !c.ready && c.pattern != nil && c.pattern.Match(c.tail.Bytes()) {
		s.becomeReady()
	}
	s.observe()
	s.lookAtHistorySoon()
}

// distribute sends output to the tail and to every host.
func (s *loop) distribute(out []byte) {
	if len(out) == 0 {
		return
	}
	s.client.tail.Write(out)
	for _, h := range s.hosts {
		s.show(h, out)
	}
}

// exited notes the client's end and waits a moment for its last output: a
// grandchild may hold the terminal open for ever.
func (s *loop) exited(c *client, state *os.ProcessState) {
	c.state = state
	close(c.over)
	limit := time.NewTimer(drainWait)
	go func() {
		defer limit.Stop()
		select {
		case <-c.pty.eof:
		case <-limit.C:
		}
		s.post(func() { s.drain(c) })
	}()
}

// drain takes what the reader has read and not yet handed over.
func (s *loop) drain(c *client) {
	for {
		select {
		case chunk := <-c.pty.out:
			s.output(chunk)
			continue
		default:
		}
		break
	}
	s.distribute(c.scanner.Flush())
	c.drained = true
	s.settle()
}
