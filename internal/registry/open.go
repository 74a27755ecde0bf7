package registry

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"

	"modernc.org/sqlite"
)

// DB is an open registry. All methods may be called from several goroutines, and
// from several processes on the same file. Close it when done.
type DB struct {
	path string
	sql  *sql.DB // one connection: a second one would only wait for the first
}

// Open opens the registry at path, makes it if there is none, and brings an older
// one up to date. The file and its companions (-wal, -shm) have mode 0600.
//
// It refuses, and leaves as they are: a link, another owner's file, one that others
// may access, one written by a newer berth, and one that is not a registry. These
// and all later errors are *session.Error and name the file.
func Open(ctx context.Context, path string) (*DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := admit(path); err != nil {
		return nil, err
	}
	// Half the time of fsync on ext4, and as durable: only time stamps are left out.
	// The error says that this system has no fdatasync; SQLite then uses fsync.
	sqlite.Fdatasync(true) //nolint:errcheck // see above
	pool, err := sql.Open("sqlite", source(path))
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	db := &DB{path: path, sql: pool}
	if err := db.migrate(ctx); err != nil {
		pool.Close() //nolint:errcheck // the first error is the one to tell
		return nil, db.fail("open", err)
	}
	return db, nil
}

// Close closes the database. Calls that are still running finish first.
func (db *DB) Close() error { return db.fail("close", db.sql.Close()) }

// source is the driver's name for the file at path, with what every connection sets:
//
//   - mode=rw: never make a file, admit has done that with the right mode;
//   - busy_timeout: wait 30 s for what does not queue with us (see write), such as a
//     person's sqlite3, then say so;
//   - synchronous=full: a decision that was told to somebody survives a power loss
//     (normal would keep the file sound but may lose the last commits);
//   - immediate transactions: a write never finds out half way that it was too late.
func source(path string) string {
	u := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{
		"mode":    {"rw"},
		"_txlock": {"immediate"},
		"_pragma": {"busy_timeout(30000)", "synchronous(full)", "foreign_keys(on)"},
	}.Encode()}
	return u.String()
}
