package launcher

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// unblockSignals empties the signal mask, which exec would pass on: a caller that
// blocks TERM would have an agent that cannot be asked to end. The mask is the
// thread's, so the caller must exec from the goroutine that called.
func unblockSignals() error {
	runtime.LockOSThread() // for good: the process is about to be another
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &unix.Sigset_t{}, nil); err != nil {
		return fmt.Errorf("cannot empty the signal mask: %w", err)
	}
	return nil
}

// The C library's own signals, which package signal does not reach. glibc's
// posix_spawn starts children with them ignored, so whatever make starts has them so.
const firstLibc, lastLibc = 32, 34

// defaultLibcSignals gives them their default dispositions.
func defaultLibcSignals() error {
	var action struct { // the kernel's sigaction; all zero is SIG_DFL
		handler, flags, restorer uintptr
		mask                     uint64
	}
	for sig := uintptr(firstLibc); sig <= lastLibc; sig++ {
		_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&action)), 0, unsafe.Sizeof(action.mask), 0, 0)
		if errno != 0 {
			return fmt.Errorf("cannot reset signal %d: %w", sig, errno)
		}
	}
	return nil
}
