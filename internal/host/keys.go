package host

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// keyboard reads a terminal in a way that can be stopped, so that nothing typed
// after a joining is swallowed by it.
type keyboard struct {
	in           *os.File
	stopR, stopW *os.File      // closing stopW wakes a poll
	stopping     chan struct{} // closed by stop
	ended        chan struct{} // closed when read has returned
}

func newKeyboard(in *os.File) (*keyboard, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &keyboard{in: in, stopR: r, stopW: w, stopping: make(chan struct{}), ended: make(chan struct{})}, nil
}

// read sends what is typed, each slice to be kept by whoever gets it, until stop or
// the terminal's end; only at that end is keys closed.
func (k *keyboard) read(keys chan<- []byte) {
	defer close(k.ended)
	for {
		if !k.poll() {
			return
		}
		buf := make([]byte, 4<<10)
		n, err := unix.Read(int(k.in.Fd()), buf)
		if err == unix.EINTR || err == unix.EAGAIN {
			continue
		}
		if err != nil || n <= 0 {
			close(keys)
			return
		}
		select {
		case keys <- buf[:n]:
		case <-k.stopping:
			return
		}
	}
}

// poll waits until something can be read; false: stop was called.
func (k *keyboard) poll() bool {
	fds := []unix.PollFd{
		{Fd: int32(k.in.Fd()), Events: unix.POLLIN},
		{Fd: int32(k.stopR.Fd()), Events: unix.POLLIN},
	}
	for {
		n, err := unix.Poll(fds, -1)
		if err == unix.EINTR {
			continue
		}
		return err == nil && n > 0 && fds[1].Revents == 0
	}
}

// stop ends read and waits for it. What was typed and not read stays in the terminal.
func (k *keyboard) stop() {
	close(k.stopping)
	k.stopW.Close() //nolint:errcheck // only its end matters
	<-k.ended
}

// drain throws away what the terminal sends within d, or until more, which is shown
// all of it, says no. Call it after stop.
func (k *keyboard) drain(d time.Duration, more func(p []byte) bool) {
	buf := make([]byte, 4<<10)
	fds := []unix.PollFd{{Fd: int32(k.in.Fd()), Events: unix.POLLIN}}
	for end := time.Now().Add(d); ; {
		left := time.Until(end)
		if left <= 0 {
			return
		}
		n, err := unix.Poll(fds, int(left.Milliseconds())+1)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return
		}
		n, err = unix.Read(int(k.in.Fd()), buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 || !more(buf[:n]) {
			return
		}
	}
}

// close frees what newKeyboard made.
func (k *keyboard) close() { k.stopR.Close() } //nolint:errcheck // only read from
