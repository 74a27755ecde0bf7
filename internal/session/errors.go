package session

import (
	"errors"
	"fmt"
)

// Class says what kind of answer an error is. Each class is one exit status;
// internal/cli holds the table.
type Class int

// The classes, in the order of their exit statuses (docs/exit-codes.md).
const (
	Failed       Class = iota + 1 // it was tried and did not work
	Usage                         // the command line or a configuration is wrong
	NotFound                      // no such session or run, or an ambiguous name
	Refused                       // held or live elsewhere, or closed: a rule says no
	NotResumable                  // running, not resumable yet
	Stale                         // it changed under you
	Unknown                       // berth could not tell, and did nothing
	TimedOut                      // waited, and the wait ended first
	Unconfirmed                   // sent, but nothing proves it arrived
)

// Error is an error a person can act on. Msg is one line, lower case, and names
// the session, path or pid. Hint is what to type next, or empty. Err is the
// cause when callers may act on it, else nil.
type Error struct {
	Class Class
	Msg   string
	Hint  string
	Err   error
}

// Error is Msg alone: Errorf has put the cause's text into it already.
func (e *Error) Error() string { return e.Msg }

func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error of the given class. A %w verb works as in fmt.Errorf.
func Errorf(c Class, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Class: c, Msg: err.Error(), Err: errors.Unwrap(err)}
}

// WithHint returns a copy of e that tells the person what to type.
func (e *Error) WithHint(format string, args ...any) *Error {
	c := *e
	c.Hint = fmt.Sprintf(format, args...)
	return &c
}

// ClassOf is the class of err: that of the outermost Error in its chain, else
// Failed. It panics on nil, which has no class.
func ClassOf(err error) Class {
	if err == nil {
		panic("internal error: no class for a nil error")
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return Failed
}

// HintOf is the first hint in err's chain, or "".
func HintOf(err error) string {
	for err != nil {
		var e *Error
		if !errors.As(err, &e) {
			return ""
		}
		if e.Hint != "" {
			return e.Hint
		}
		err = e.Err
	}
	return ""
}
