package clients

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// How long each way of ending a tree is given before the next, when Grace says
// nothing else.
const (
	DefaultPoliteFor = 2 * time.Second // agents save their history within 0.4 s, on a busy machine within 1
	DefaultTermFor   = 2 * time.Second
	DefaultKillFor   = 2 * time.Second // the kernel needs 1 ms; longer is a process stuck in it

	// killPause is how long a round of killing waits for what it killed before it
	// looks for what was forked meanwhile.
	killPause = 100 * time.Millisecond
)

// Grace is how gently a tree is ended. The zero value starts with SIGTERM.
type Grace struct {
	// Polite asks the clients to end in the provider's own way, and returns
	// without waiting. It is called when a root is alive. On an error SIGTERM
	// follows at once; nil is the same.
	Polite func() error

	PoliteFor time.Duration // for the roots, after Polite; 0 is the default
	TermFor   time.Duration // for the tree, after SIGTERM; 0 is the default
	KillFor   time.Duration // for the tree, after SIGKILL; 0 is the default
}

// Ended is what became of a tree.
type Ended struct {
	Count      int       // processes seen in the tree that are gone, roots included, each once
	Left       []Process // could not be ended; Why says what happened
	Spared     []Process // as in Tree, as last seen
	Unverified []Process // as in Tree, as last seen
}

// EndTree ends the tree of a run: politely, with SIGTERM (after SIGCONT, so that
// stopped ones hear it), with SIGKILL, until scans find nothing more. It
// goes on as soon as all it waits for has ended. What is left after that is in
// Left, which is no error. An error means that the tree could not be seen, or is
// ctx's cause: then the result is what was reached.
//
// Whoever runs inside the tree must not call this (see Inside): it would leave
// itself and end what waits for it.
func EndTree(ctx context.Context, spec TreeSpec, grace Grace) (Ended, error) {
	e := newEnding(spec, grace)
	defer e.close()
	err := e.run(ctx)
	if err == nil {
		err = context.Cause(ctx)
	}
	return e.result(), err
}

// How many scans in a row must find nothing. One can miss a child forked while it
// read. A tree that was seen forking while it was being ended, such as one that hands
// over from process to process, can slip through a second, too.
const (
	quietScans    = 2
	restlessScans = 6
)

// ending is one call of EndTree.
type ending struct {
	spec  TreeSpec
	grace Grace
	send  func(*Handle, unix.Signal) error // (*Handle).Signal, except in tests

	known map[Identity]*target // all that was ever seen in the tree
	last  Tree                 // the newest scan
	empty int                  // how many scans in a row, up to the newest, found nothing
	looks int                  // how many scans there were
	quiet int                  // how many empty scans in a row end it
}

// target is one process of the tree.
type target struct {
	Process
	handle *Handle     // nil when it could not be opened, for err
	sent   unix.Signal // the last signal it got, 0 for none
	err    error       // why it cannot be opened or signalled
	gone   bool
}

func newEnding(spec TreeSpec, g Grace) *ending {
	orDefault := func(d *time.Duration, def time.Duration) {
		if *d == 0 {
			*d = def
		}
	}
	orDefault(&g.PoliteFor, DefaultPoliteFor)
	orDefault(&g.TermFor, DefaultTermFor)
	orDefault(&g.KillFor, DefaultKillFor)
	return &ending{spec: spec, grace: g, send: (*Handle).Signal, known: map[Identity]*target{}}
}

func (e *ending) run(ctx context.Context) error {
	if e.grace.Polite != nil {
		if err := e.polite(ctx); err != nil {
			return err
		}
	}
	if err := e.term(ctx); err != nil {
		return err
	}
	return e.kill(ctx)
}

// polite asks the roots and waits for them alone: what they leave is told next.
func (e *ending) polite(ctx context.Context) error {
	found, err := e.look()
	if err != nil {
		return err
	}
	isRoot := map[Identity]bool{}
	for _, id := range e.spec.Roots {
		isRoot[id] = true
	}
	var roots []*target
	for _, t := range found {
		if isRoot[t.Identity] {
			roots = append(roots, t)
		}
	}
	if len(roots) > 0 && e.grace.Polite() == nil {
		wait(ctx, roots, e.grace.PoliteFor)
	}
	return nil
}

// term tells everything once, also what appears meanwhile.
func (e *ending) term(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, e.grace.TermFor)
	defer cancel()
	for ctx.Err() == nil {
		found, err := e.look()
		if err != nil || len(found) == 0 {
			return err
		}
		for _, t := range found {
			if t.sent == 0 {
				e.signal(t, unix.SIGCONT)
				e.signal(t, unix.SIGTERM)
			}
		}
		if !wait(ctx, found, e.grace.TermFor) {
			return nil
		}
	}
	return nil
}

// kill scans and kills until enough scans in a row are empty. It gives up on what
// KillFor does not end: a process that the kernel keeps, or a tree that forks faster
// than it dies.
func (e *ending) kill(ctx context.Context) error {
	for limit := time.Now().Add(e.grace.KillFor); e.empty < max(e.quiet, quietScans) && ctx.Err() == nil; {
		found, err := e.look()
		if err != nil {
			return err
		}
		var fresh, mortal []*target
		for _, t := range found {
			if t.sent != unix.SIGKILL {
				e.signal(t, unix.SIGKILL)
				fresh = append(fresh, t)
			}
			if t.err == nil {
				mortal = append(mortal, t)
			}
		}
		switch {
		case len(found) > 0 && time.Now().After(limit):
			_, err := e.look() // what is there now is left, also what has just come
			return err
		case len(fresh) > 0:
			wait(ctx, fresh, killPause)
		case len(found) > 0 && len(mortal) == 0, !wait(ctx, mortal, e.grace.KillFor):
			return nil
		}
	}
	return nil
}

// look scans, opens what is new, and returns what of the tree still lives. What
// was seen once stays of the tree: when its parent ends, an unmarked process
// descends from nothing any more.
func (e *ending) look() ([]*target, error) {
	tree, err := scan(e.spec, func(id Identity) bool { return e.known[id] != nil })
	if err != nil {
		return nil, err
	}
	e.last = tree
	e.empty++
	e.looks++
	if len(tree.Processes) > 0 {
		e.empty = 0
	}
	var found []*target
	for _, p := range tree.Processes {
		t := e.known[p.Identity]
		if t == nil {
			t = &target{}
			e.known[p.Identity] = t
			if e.looks > 1 { // it came while the others were being ended
				e.quiet = restlessScans
			}
		}
		t.Process = p
		if t.handle == nil && !t.gone {
			t.handle, t.err = Open(p.Identity)
			t.gone = errors.Is(t.err, ErrNoProcess)
		}
		if !t.ended() {
			found = append(found, t)
		}
	}
	return found, nil
}

// signal sends sig, unless t has become something else since the scan: the child
// of an agent may just have turned into a supervisor.
func (e *ending) signal(t *target, sig unix.Signal) {
	if t.handle == nil {
		t.sent = sig
		return
	}
	if now, err := marksOf(t.PID); err == nil && now != t.Marks {
		return // the next scan judges it anew
	}
	t.sent = sig
	if err := e.send(t.handle, sig); errors.Is(err, ErrNoProcess) {
		t.gone = true
	} else {
		t.err = err
	}
}

// ended reports whether t is gone, and lets go of it then.
func (t *target) ended() bool {
	if t.handle != nil && (t.gone || t.handle.Exited()) {
		t.gone = true
		t.handle.Close()
		t.handle = nil
	}
	return t.gone
}

// wait waits for all of ts, at most d, and reports whether all have ended.
func wait(ctx context.Context, ts []*target, d time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for _, t := range ts {
		switch {
		case t.ended():
		case t.handle == nil:
			<-ctx.Done()
			return false
		case t.handle.Wait(ctx) != nil:
			return false
		}
	}
	return true
}

func (e *ending) result() Ended {
	r := Ended{Spared: e.last.Spared, Unverified: e.last.Unverified}
	for _, p := range e.last.Processes {
		t := e.known[p.Identity]
		if t.ended() {
			continue
		}
		p.Why = "still there after " + unix.SignalName(t.sent)
		switch {
		case t.err != nil:
			p.Why = t.err.Error()
		case t.sent == 0:
			p.Why = "the tree forks faster than it dies"
		}
		r.Left = append(r.Left, p)
	}
	for _, t := range e.known {
		if t.ended() {
			r.Count++
		}
	}
	return r
}

func (e *ending) close() {
	for _, t := range e.known {
		if t.handle != nil {
			t.handle.Close()
		}
	}
}
