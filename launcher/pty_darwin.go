package launcher

import "os"

// interruptible is f as it is: not every Darwin can wait for a PTY with kqueue.
func interruptible(f *os.File) (*os.File, error) { return f, nil }
