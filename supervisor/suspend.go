package supervisor

import (
	"berth/clients"
	"berth/internal/protocol"
	"berth/manifest"

	"golang.org/x/sys/unix"
)

// wakeSuspended continues a client that ctrl-Z has stopped: no shell above it would
// ever do so. The person at its terminal gets back to their own shell, as they
// wanted. A client stopped with its terminal still raw was stopped from outside, by
// somebody who will continue it.
func (s *loop) wakeSuspended() {
	c := s.client
	pid := c.process.Process.PID
	if c.state != nil || !clients.ChildStopped(pid) || !s.cooked() {
		return
	}
	unix.Kill(-pid, unix.SIGCONT) //nolint:errcheck // it is our child and was stopped just now; one that is killed meanwhile needs no waking
	s.event("suspended and continued", nil)
	if h := s.keyboard; h != nil && h.info.Kind == manifest.HostTerminal {
		s.sendTo(h, protocol.Begone, protocol.Leaving{Reason: protocol.LeaveSuspended})
	}
}

// cooked reports whether the client's terminal edits lines, as for a shell.
func (s *loop) cooked() bool {
	raw, err := s.client.process.PTY.SyscallConn()
	if err != nil {
		return false
	}
	var mode *unix.Termios
	cerr := raw.Control(func(fd uintptr) { mode, err = unix.IoctlGetTermios(int(fd), getTermios) })
	return cerr == nil && err == nil && mode.Lflag&unix.ICANON != 0
}
