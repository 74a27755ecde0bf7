package supervisor

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"sync/atomic"
	"time"

	"berth/clients"
	"berth/internal/point"
	"berth/internal/protocol"
	"berth/internal/screen"
	"berth/launcher"
	"berth/manifest"

	"golang.org/x/sys/unix"
)

// loop owns a supervisor's state: only the goroutine in run touches it. Everybody
// else brings it something: bytes on out, frames on frames, and all that is rare as
// a function on calls.
type loop struct {
	spec    launcher.Spec
	dir     manifest.Dir
	version string
	started time.Time

	calls  chan func()
	frames chan frame
	wake   chan struct{} // a host has room again
	gone   chan struct{} // closed when run returns: whoever waits to bring something stops

	phase         string
	phaseSince    time.Time
	native        manifest.Native
	gate          *launcher.Client // of the first client, up already; nil once it is used
	client        *client          // nil before the first
	hosts         []*host
	keyboard      *host          // who types; nil: nobody
	coming        *handover      // the keyboard on its way
	landing       []func()       // who waits for the client's output to be between sequences
	drawing       *drawing       // a picture on its way: the client's output waits
	paste         screen.Input   // what the holder types, for whether a paste is open
	borrowers     []*host        // terminals that wait for the tmux host to say whether it is watched
	dismissed     []*host        // those who waited for the last client, and were turned away
	asked         *query         // what the holder's terminal was asked
	queries       []screen.Query // what waits behind it
	fences        []*fence       // commands that wait for the tmux pane to be drawn
	startFailures int            // how often in a row a start failed for nothing
	sameAgain     bool           // the next client is started as the last was, not to resume

	ending   *ending           // nil unless the client is being ended
	lastSeq  int               // the last request looked at
	restarts manifest.Restarts // the policy, with its counters
	lost     bool              // the run directory is gone

	terminalIn atomic.Pointer[ptyIO] // the client's, for those who type

	done bool
}

func newLoop(spec launcher.Spec, version string) *loop {
	return &loop{
		spec: spec, dir: spec.Dir(), version: version, started: time.Now(), restarts: spec.Restarts,
		phase: manifest.PhaseStarting, phaseSince: time.Now(),
		calls: make(chan func()), frames: make(chan frame), wake: make(chan struct{}, 1), gone: make(chan struct{}),
	}
}

// run makes the socket, starts the first client and serves until the last has
// ended. The launcher is told as soon as the client runs.
func (s *loop) run(birth *launcher.Birth) (err error) {
	defer close(s.gone)
	l, err := protocol.Listen(s.socket())
	if err != nil {
		return errors.Join(err, s.abandonLaunch())
	}
	defer func() { s.closeSocket(l) }()
	if err := s.start(); err != nil {
		return errors.Join(err, s.abandonLaunch())
	}
	birth.Over(nil)

	term := make(chan os.Signal, 1) // one is enough to know
	signal.Notify(term, unix.SIGTERM)
	children := make(chan os.Signal, 1) // hints, merged
	signal.Notify(children, unix.SIGCHLD)
	w := manifest.Watch(s.dir.Path("requests"), s.dir.Path("inbox"))
	defer w.Close()
	go s.accept(l)
	s.event("supervising", map[string]any{"pid": os.Getpid(), "attempt": s.spec.Attempt})
	s.look(&l)
	for !s.done {
		out := s.client.pty.out
		if s.held() {
			out = nil // a holder that is still taking its bytes slows the client
		}
		select {
		case chunk := <-out:
			s.output(chunk)
		case f := <-s.frames:
			s.handle(f)
		case call := <-s.calls:
			call()
		case <-s.wake:
			s.resume()
		case <-w.C:
			s.look(&l)
		case <-term:
			s.shutDown()
		case <-children:
			s.reap()
			s.wakeSuspended()
		}
	}
	s.farewell()
	return nil
}

// post has the loop call f, soon. It returns at once when the loop has ended.
func (s *loop) post(f func()) {
	select {
	case s.calls <- f:
	case <-s.gone:
	}
}

// after has the loop call f when d has passed. Stopping the timer forgets it.
func (s *loop) after(d time.Duration, f func()) *time.Timer {
	return time.AfterFunc(d, func() { s.post(f) })
}

// look is what every hint leads to: the socket is still ours, announcements and
// requests are taken. The run directory may be gone; then the client lives on, the
// loss is told, and nothing is made again.
func (s *loop) look(l **net.UnixListener) {
	if _, err := os.Lstat(s.socket()); errors.Is(err, os.ErrNotExist) {
		s.rebind(l)
	}
	if _, err := os.Lstat(string(s.dir)); errors.Is(err, os.ErrNotExist) {
		if !s.lost {
			s.lost = true
			fmt.Fprintf(os.Stderr, "Run directory %s was removed; the client goes on\n", s.dir) //nolint:errcheck // last place to tell
		}
		return
	}
	s.takeInbox()
	s.takeRequests()
}

// rebind makes the socket again after somebody cleaned it away.
func (s *loop) rebind(l **net.UnixListener) {
	if err := os.Mkdir(s.spec.Home.Sockets, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return
	}
	again, err := protocol.Listen(s.socket())
	if err != nil {
		return // the next hint tries again
	}
	(*l).Close() //nolint:errcheck // nobody can reach it any more
	*l = again
	go s.accept(again)
	s.event("socket made again", nil)
}

func (s *loop) socket() string { return s.spec.Home.RunSocket(s.spec.Run) }

func (s *loop) closeSocket(l *net.UnixListener) {
	l.Close()             //nolint:errcheck // leaving
	os.Remove(s.socket()) //nolint:errcheck // the life lock is ours still, so it is our socket
}

// accept greets every connection of ours in its own goroutine, until l is closed.
func (s *loop) accept(l *net.UnixListener) {
	for {
		nc, err := l.AcceptUnix()
		if err != nil {
			return
		}
		if protocol.CheckPeer(nc) != nil {
			nc.Close() //nolint:errcheck // not one of us
			continue
		}
		go s.greet(protocol.NewConn(nc))
	}
}

// setPhase moves to phase and writes it down.
func (s *loop) setPhase(phase string) {
	s.phase, s.phaseSince = phase, time.Now()
	s.record()
}

// record writes supervisor.json. What cannot be written is told in the log: the
// client goes on, and readers see the last version.
func (s *loop) record() { s.warn(s.dir.WriteSupervisor(s.describe())) }

// describe is what supervisor.json is to say now.
func (s *loop) describe() manifest.Supervisor {
	r := manifest.Supervisor{
		Process: clients.Self(), Since: rfc3339(s.started), Version: s.version, Protocol: protocol.Version,
		Socket: s.socket(), Phase: s.phase, PhaseSince: rfc3339(s.phaseSince), Request: s.lastSeq,
		Attempt: s.spec.Attempt, Prompt: manifest.PromptNone, Restarts: s.restarts,
	}
	if s.client != nil {
		r.Ready, r.Turn, r.Prompt = s.client.ready, s.client.turn, s.client.prompt
	}
	for _, h := range s.hosts {
		info := h.info
		info.Keyboard = h == s.keyboard
		r.Hosts = append(r.Hosts, info)
	}
	return r
}

// event adds a line to the run's events.
func (s *loop) event(name string, detail map[string]any) {
	s.warn(s.dir.AppendEvent(manifest.Event{Run: s.spec.Run, Session: s.spec.Session, Event: name, Detail: detail}))
}

// warn logs an error that must not end the supervisor.
func (s *loop) warn(err error) {
	if err != nil && !s.lost {
		fmt.Fprintf(os.Stderr, "%s %v\n", rfc3339(time.Now()), err) //nolint:errcheck // last place to tell
	}
}

// reap takes the ended orphans of the client's tree, which come to us because we
// are their subreaper. Our own children are os/exec's to wait for.
func (s *loop) reap() {
	own := s.client.process.Process.PID
	_, err := clients.ReapAdopted(func(pid int) bool { return pid == own })
	s.warn(err)
}

func rfc3339(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// abandonLaunch gives the launch up, so that nobody waits for it.
func (s *loop) abandonLaunch() error {
	point.Here("supervisor.abandon")
	return s.dir.Advance(manifest.Supervised, manifest.Expired)
}
