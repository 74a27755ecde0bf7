// Package control is what a command does to sessions, under their locks: start,
// open, stop, restart, complete, look. Decisions go to the registry, requests to the
// run directory; what happened is read back from evidence.
//
// Its invariant: whoever may change which client drives a session holds its launch
// lock from the check to the receipt on disk, and everything that can be checked is
// checked before anything is stopped.
package control
