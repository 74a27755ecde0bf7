package manifest

import (
	"os"
	"time"

	"berth/internal/point"

	"github.com/fsnotify/fsnotify"
)

// Rescan intervals. With inotify a rescan only covers what it cannot see (an
// overflow it did not report, a directory replaced); without it, the rescan is all
// there is besides the socket's doorbell.
const (
	RescanWatched   = time.Minute
	RescanUnwatched = 500 * time.Millisecond
)

// Watcher says when to look again. A value on C is a hint, never a fact: look at
// the state first after Watch returns, then again at every hint.
type Watcher struct {
	// C gets a hint when something changed in a watched directory, and at every
	// rescan. One hint is kept; more are merged into it.
	C <-chan struct{}

	notify  *fsnotify.Watcher // nil without inotify
	err     error
	closing chan struct{}
	closed  chan struct{}
}

// Watch watches the directories (not what is below them) until Close. It always
// works: when the system has no more inotify instances or watches it rescans, and
// Err says so.
func Watch(dirs ...string) *Watcher {
	c := make(chan struct{}, 1) // one hint is as good as many
	w := &Watcher{C: c, closing: make(chan struct{}), closed: make(chan struct{})}
	w.notify, w.err = newNotify(dirs)
	go w.run(c)
	return w
}

func newNotify(dirs []string) (*fsnotify.Watcher, error) {
	if point.Switch("no-inotify") {
		return nil, fsnotify.ErrClosed
	}
	n, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	for _, d := range dirs {
		if err := n.Add(d); err != nil {
			n.Close() //nolint:errcheck // it never watched
			return nil, err
		}
	}
	return n, nil
}

// Err is why there is no inotify, or nil.
func (w *Watcher) Err() error { return w.err }

// Close stops the watcher and waits for it.
func (w *Watcher) Close() {
	close(w.closing)
	<-w.closed
}

func (w *Watcher) run(c chan<- struct{}) {
	defer close(w.closed)
	every := RescanUnwatched
	var events chan fsnotify.Event
	var errs chan error
	if w.notify != nil {
		// Linux takes about 10 ms to end a watch. Nobody has to wait for that: a command
		// in front of a person would, and so would the launch it is in the middle of.
		defer func() { go w.notify.Close() }() //nolint:errcheck // nothing to save
		every, events, errs = RescanWatched, w.notify.Events, w.notify.Errors
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-w.closing:
			return
		case _, ok := <-events:
			if !ok {
				events = nil
			}
		case _, ok := <-errs: // an overflow: something was missed, so look
			if !ok {
				errs = nil
			}
		case <-tick.C:
		}
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// Touch has whoever watches the run's requests look again. Nothing is left behind.
func (d Dir) Touch() error {
	now := time.Now()
	return os.Chtimes(d.Path("requests"), now, now)
}
