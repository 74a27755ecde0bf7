package clients

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"berth/internal/session"

	"golang.org/x/sys/unix"
)

// ErrOurs is wrapped by Open and Signal when the process is one that must never
// be signalled: pid 0 or 1, ourselves, or a member of our own process group.
var ErrOurs = errors.New("it is init, this process, or of this process's own group")

// Handle holds on to one process, so that its number cannot come to mean another
// one while it is signalled or waited for. Its methods may be called by several
// goroutines at once. Whoever opened it closes it.
type Handle struct {
	id    Identity
	watch watch // the kernel's hold on the process

	watching sync.Once     // starts the goroutine that closes done, or forbids it
	done     chan struct{} // closed when the process has ended
	stopped  chan struct{} // closed when that goroutine has ended or will never start
}

// Open opens the process id names. The kernel's handle is taken first and the
// identity checked after it, so what was checked is what is held. The error wraps
// ErrNoProcess when that process has ended, ErrOurs when it must not be touched,
// and is of class session.Unknown when this machine cannot tell.
func Open(id Identity) (*Handle, error) {
	if id.PID == 1 || id.PID < 0 || id == Self() {
		return nil, fmt.Errorf("cannot open process %d: %w", id.PID, ErrOurs)
	}
	w, err := openWatch(id)
	switch l := Check(id); l.Status {
	case Live:
		if err != nil {
			return nil, fmt.Errorf("cannot open process %d: %w", id.PID, err)
		}
		return &Handle{id: id, watch: w, done: make(chan struct{}), stopped: make(chan struct{})}, nil
	case Dead:
		err = fmt.Errorf("cannot open process %d: %s: %w", id.PID, l.Reason, ErrNoProcess)
	default:
		err = session.Errorf(session.Unknown, "cannot tell whether process %d still runs: %s", id.PID, l.Reason)
	}
	if w != nil {
		w.close()
	}
	return nil, err
}

// watch is what a system offers to hold a process.
type watch interface {
	wait() (ended bool) // blocks until the process has ended (true) or close was called
	exited() bool
	signal(unix.Signal) error // ESRCH when the process was reaped
	close()
}

// Identity is the process held.
func (h *Handle) Identity() Identity { return h.id }

// Signal sends sig. The error wraps ErrNoProcess when the process has ended, also
// if nobody reaped it yet, and ErrOurs when it shares our process group.
func (h *Handle) Signal(sig unix.Signal) error {
	err := error(ErrNoProcess)
	if !h.Exited() {
		pgid, perr := unix.Getpgid(h.id.PID)
		if perr == nil && pgid == unix.Getpgrp() {
			return fmt.Errorf("cannot send %s to process %d: %w", unix.SignalName(sig), h.id.PID, ErrOurs)
		}
		err = h.watch.signal(sig)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ESRCH):
		err = ErrNoProcess
	}
	return fmt.Errorf("cannot send %s to process %d: %w", unix.SignalName(sig), h.id.PID, err)
}

// Exited reports whether the process has ended, reaped or not. After Close it may
// report false for one that has.
func (h *Handle) Exited() bool { return h.watch.exited() }

// Done is closed when the process has ended; the kernel wakes it. It stays open
// when the handle is closed before that.
func (h *Handle) Done() <-chan struct{} {
	h.watching.Do(func() {
		go func() {
			defer close(h.stopped)
			if h.watch.wait() {
				close(h.done)
			}
		}()
	})
	return h.done
}

// Wait returns nil when the process has ended, also when ctx is done too, else
// ctx's cause.
func (h *Handle) Wait(ctx context.Context) error {
	select {
	case <-h.Done():
		return nil
	case <-ctx.Done():
		if h.Exited() {
			return nil
		}
		return context.Cause(ctx)
	}
}

// Close lets go of the process and does nothing to it. It may be called again.
func (h *Handle) Close() {
	h.watching.Do(func() { close(h.stopped) })
	h.watch.close()
	<-h.stopped
}
