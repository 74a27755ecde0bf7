//go:build !berthtest

// Package point names the places and switches where a test build of berth can be
// killed, stopped or made to fail. In a normal build every function here does
// nothing and costs nothing; build with -tags berthtest to arm them (see
// HACKING.md).
package point

// Here marks the named point. Test builds may end or stop the process there.
func Here(string) {}

// Fail is the error injected into the named file operation: always nil.
func Fail(string) error { return nil }

// Switch reports whether the named switch is on: never.
func Switch(string) bool { return false }

// Value is the injected replacement for a fact about the machine: always "".
func Value(string) string { return "" }

// Environ returns the variables that carry the arming to child processes: none.
func Environ() []string { return nil }
