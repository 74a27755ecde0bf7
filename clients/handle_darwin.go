package clients

import (
	"sync"

	"golang.org/x/sys/unix"
)

// closeEvent is the ident of the user event by which close wakes wait.
const closeEvent = 1

// kqueue is a watch by NOTE_EXIT. Darwin has no handle that a signal can be sent
// through: the start time is compared directly before each signal, and what is
// left between the two is the closest the system offers.
type kqueue struct {
	id Identity

	fd      int
	closing sync.Once
	mu      sync.Mutex // held by wait, so that fd is not closed under it; guards closed
	closed  bool
}

func openWatch(id Identity) (watch, error) {
	fd, err := unix.Kqueue()
	if err != nil {
		return nil, err
	}
	unix.CloseOnExec(fd)
	events := make([]unix.Kevent_t, 2)
	unix.SetKevent(&events[0], id.PID, unix.EVFILT_PROC, unix.EV_ADD)
	events[0].Fflags = unix.NOTE_EXIT
	unix.SetKevent(&events[1], closeEvent, unix.EVFILT_USER, unix.EV_ADD)
	if _, err := unix.Kevent(fd, events, nil, nil); err != nil {
		unix.Close(fd) //nolint:errcheck // the first error is the one to tell
		return nil, err
	}
	return &kqueue{id: id, fd: fd}, nil
}

// wait keeps a thread in kevent. Exits are few and Darwin is a desktop.
func (k *kqueue) wait() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return false
	}
	var got [1]unix.Kevent_t
	for {
		n, err := unix.Kevent(k.fd, nil, got[:], nil)
		if err == unix.EINTR {
			continue
		}
		return err == nil && n == 1 && got[0].Filter == unix.EVFILT_PROC
	}
}

func (k *kqueue) exited() bool { return Check(k.id).Status == Dead }

func (k *kqueue) signal(sig unix.Signal) error {
	if k.exited() {
		return unix.ESRCH
	}
	return unix.Kill(k.id.PID, sig)
}

func (k *kqueue) close() {
	k.closing.Do(func() {
		trigger := make([]unix.Kevent_t, 1)
		unix.SetKevent(&trigger[0], closeEvent, unix.EVFILT_USER, 0)
		trigger[0].Fflags = unix.NOTE_TRIGGER
		unix.Kevent(k.fd, trigger, nil, nil) //nolint:errcheck // it can only fail for want of a waiter
		k.mu.Lock()                          // wait has left the kqueue
		defer k.mu.Unlock()
		k.closed = true
		unix.Close(k.fd) //nolint:errcheck // nothing was written
	})
}
