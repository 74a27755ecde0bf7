// Package registry holds decisions: sessions with their opening request, and
// their runs. A decision is a row changed by compare-and-set. It never holds
// evidence, which is files in run directories, and never the words of a
// conversation, which are the journal's.
//
// The registry is one SQLite database in the home. Every write is one immediate
// transaction that is on the disk when the call returns, so any number of
// processes may use it at once and any of them may be killed at any moment. It
// leaves no connection, lock or goroutine behind after Close.
//
// Rows are never removed: a session whose first launch failed stays, because
// somebody asked for it and will want to know what became of it.
package registry
