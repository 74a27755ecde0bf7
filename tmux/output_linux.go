package tmux

import (
	"os"

	"golang.org/x/sys/unix"
)

// outputFile is an empty file without a name, for what a client prints.
func outputFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("tmux-output", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), "tmux-output"), nil
}
