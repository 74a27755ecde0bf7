package launcher

// unblockSignals does nothing: Darwin's call is not reachable from pure Go.
func unblockSignals() error { return nil }

// defaultLibcSignals does nothing: Darwin's C library has no signals of its own.
func defaultLibcSignals() error { return nil }
