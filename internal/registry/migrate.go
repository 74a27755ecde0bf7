package registry

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"berth/internal/session"
	"berth/lock"
)

const (
	readMark    = `SELECT application_id, user_version FROM pragma_application_id, pragma_user_version`
	writeSchema = `PRAGMA user_version = %d`
)

// migrate brings the schema up to date, or refuses the file. Of several processes
// one migrates and the others find it done.
func (db *DB) migrate(ctx context.Context) error {
	if version, err := db.schema(ctx, db.sql); err != nil || version == len(migrations) {
		return err
	}
	return db.write(ctx, func(tx *sql.Tx) error {
		version, err := db.schema(ctx, tx)
		if err != nil || version == len(migrations) {
			return err
		}
		for _, statements := range migrations[version:] {
			if _, err := tx.ExecContext(ctx, statements); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, fmt.Sprintf(writeSchema, len(migrations)))
		return err
	})
}

// schema returns how many migrations the file has had.
func (db *DB) schema(ctx context.Context, q querier) (version int, err error) {
	var mark int
	if err := q.QueryRowContext(ctx, readMark).Scan(&mark, &version); err != nil {
		return 0, err
	}
	switch {
	case mark != applicationID:
		return 0, session.Errorf(session.Failed, "cannot open %s: it is not a registry of berth", db.path)
	case version > len(migrations):
		return 0, session.Errorf(session.Failed, "cannot open %s: it has schema %d, and this berth knows up to %d",
			db.path, version, len(migrations)).
			WithHint("a newer berth has used this home: install that one, or give another home in BERTH_HOME")
	}
	return version, nil
}

// querier is a connection or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// writeWait is how long a write waits for those before it.
const writeWait = time.Minute

// write runs f in one immediate transaction, which is on the disk when write
// returns nil and has never been when it returns an error.
//
// Writers of all processes queue for a lock of ours first, where each has its turn:
// of 200 that only asked SQLite again and again, some did not get through in 30 s.
func (db *DB) write(ctx context.Context, f func(*sql.Tx) error) error {
	turn, err := lock.AcquireFile(ctx, db.path+"-writer", lock.Write, "a write to the registry", writeWait)
	if err != nil {
		return err
	}
	defer turn.Release() //nolint:errcheck // closing gives it up in any case
	tx, err := db.sql.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it has nothing to do
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}
