package cli

import "berth/internal/session"

// exit is one row of docs/exit-codes.md and of `berth help exit-codes`; a test
// holds the three together.
type exit struct {
	class   session.Class
	status  int
	name    string // the class in the JSON of an error
	meaning string
}

var exits = []exit{
	{session.Failed, 1, "failed", "it was tried and did not work"},
	{session.Usage, 2, "usage", "the command line or a configuration is wrong; nothing was done"},
	{session.NotFound, 3, "not_found", "no such session or run, or the name fits several"},
	{session.Refused, 4, "refused", "held or live elsewhere, or closed; the message says what would do it"},
	{session.NotResumable, 5, "not_resumable", "it runs, and cannot be resumed yet"},
	{session.Stale, 6, "stale", "it changed under you; look again"},
	{session.Unknown, 7, "unknown", "berth could not tell, and did nothing"},
	{session.TimedOut, 8, "timed_out", "the wait ended first"},
	{session.Unconfirmed, 9, "unconfirmed", "sent, and nothing proves that it arrived"},
}

// exitInterrupted is 128 + SIGINT. It has no class: no rule said it.
var exitInterrupted = exit{0, 130, "interrupted", "ctrl-C ended the command"}

// exitOf is the row of class c. A class that is in no row is a failure, never a
// success.
func exitOf(c session.Class) exit {
	for _, e := range exits {
		if e.class == c {
			return e
		}
	}
	return exits[0]
}

// ExitStatus is the status of a supervised client, passed through as berth's
// own: nothing is printed for it.
type ExitStatus struct{ Code int }

func (s ExitStatus) Error() string { return "the client's own exit status" }
