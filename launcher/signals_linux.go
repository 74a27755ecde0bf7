package launcher

import (
	"fmt"
	"runtime"

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
