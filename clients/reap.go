package clients

import "errors"

// ErrNoSubreaper is returned by BecomeSubreaper where the system has none: orphans
// of a run go to init, and are found by their marks alone.
var ErrNoSubreaper = errors.New("this system cannot give a process the orphans below it")
