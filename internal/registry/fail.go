package registry

import (
	"errors"
	"fmt"

	"berth/internal/session"
	"berth/lock"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// fail names the database and what was to be done in an error that came from SQLite
// or from the context. One that is meant for a person already, and nil, stay as
// they are.
func (db *DB) fail(what string, err error) error {
	var told *session.Error
	if err == nil || errors.As(err, &told) {
		return err
	}
	told = session.Errorf(session.Failed, "cannot %s %s: %w", what, db.path, err)
	if held, ok := errors.AsType[*lock.HeldError](err); ok {
		return told.WithHint("try again; if it is stuck, kill -KILL %d loses nothing", held.Holder.PID)
	}
	var cause *sqlite.Error
	if !errors.As(err, &cause) {
		return told
	}
	switch cause.Code() & 0xff { // without the extension
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return told.WithHint("nothing was changed in it; put a copy back, or keep it aside and start anew: mv %s %[1]s.broken", db.path)
	case sqlite3.SQLITE_FULL:
		return told.WithHint("make room and try again; nothing was lost")
	case sqlite3.SQLITE_BUSY:
		return told.WithHint("another process has been writing to it for too long; find it with: fuser -v %s", db.path)
	}
	return told
}

// notFound says that there is no such session or run.
func notFound(what, ref string) error {
	return session.Errorf(session.NotFound, "no %s %s", what, printable(ref)).WithHint("berth list --all")
}

// printable is ref as it may stand in an error: as typed if it is plain, else quoted.
func printable(ref string) string {
	if session.ValidName(ref) {
		return ref
	}
	return fmt.Sprintf("%.80q", ref)
}
