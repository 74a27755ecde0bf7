package clients

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pidfd is a watch on a pidfd in the runtime's poller, so waiting costs no thread.
type pidfd struct {
	file *os.File
	conn syscall.RawConn
}

func openWatch(id Identity) (watch, error) {
	fd, err := unix.PidfdOpen(id.PID, 0)
	if err != nil {
		return nil, os.NewSyscallError("pidfd_open", err)
	}
	// The runtime polls only what is non-blocking. PIDFD_NONBLOCK would ask for
	// Linux 5.10, the flag alone does not.
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd) //nolint:errcheck // the first error is the one to tell
		return nil, err
	}
	file := os.NewFile(uintptr(fd), fmt.Sprintf("pidfd of %d", id.PID))
	conn, err := file.SyscallConn()
	if err == nil {
		err = file.SetReadDeadline(time.Time{}) // fails if the poller did not take it
	}
	if err != nil {
		file.Close() //nolint:errcheck // the first error is the one to tell
		return nil, err
	}
	return &pidfd{file, conn}, nil
}

func (p *pidfd) wait() bool {
	return p.conn.Read(ready) == nil
}

func (p *pidfd) exited() (ended bool) {
	p.conn.Control(func(fd uintptr) { ended = ready(fd) }) //nolint:errcheck // closed: not known to have ended
	return ended
}

func (p *pidfd) signal(sig unix.Signal) (err error) {
	if cerr := p.conn.Control(func(fd uintptr) { err = unix.PidfdSendSignal(int(fd), sig, nil, 0) }); cerr != nil {
		return cerr
	}
	return err
}

func (p *pidfd) close() { p.file.Close() } //nolint:errcheck // nothing was written

// ready reports whether the pidfd is readable: its process has ended.
func ready(fd uintptr) bool {
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(poll, 0)
		if err != unix.EINTR {
			return n == 1
		}
	}
}
