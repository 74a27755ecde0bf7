package launcher

import (
	"os"

	"golang.org/x/sys/unix"
)

// interruptible is f, taken over, with reads that end by Close. pty leaves f blocking:
// a read then keeps the descriptor open past its Close, for as long as any process
// that the client left behind has the terminal open, and none of them is hung up on.
func interruptible(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd) //nolint:errcheck // nothing was done with it
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), f.Close()
}
