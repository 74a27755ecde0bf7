package launcher

import (
	"errors"
	"os"

	"berth/internal/protocol"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// openPTY makes a new PTY, of which our side's reads and writes end when it is closed.
func openPTY() (ptmx, tty *os.File, err error) {
	ptmx, tty, err = pty.Open()
	if err != nil {
		return nil, nil, err
	}
	closable, err := interruptible(ptmx)
	if err != nil {
		return nil, nil, errors.Join(err, ptmx.Close(), tty.Close())
	}
	return closable, tty, nil
}

// Resize sets the size of a PTY; the foreground process group gets SIGWINCH. It does
// not ask for the file's descriptor, which would make its reads uninterruptible again.
func Resize(ptmx *os.File, s protocol.Size) error {
	raw, err := ptmx.SyscallConn()
	if err != nil {
		return err
	}
	size := &unix.Winsize{Col: uint16(s.Cols), Row: uint16(s.Rows), Xpixel: uint16(s.XPixel), Ypixel: uint16(s.YPixel)}
	cerr := raw.Control(func(fd uintptr) { err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, size) })
	return errors.Join(cerr, err)
}
