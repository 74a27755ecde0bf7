package registry

import (
	"context"
	"database/sql"
	"time"
)

// Run is one native conversation held by a session.
type Run struct {
	ID        string
	SessionID string
	Seq       int       // 1 is the session's first run
	CreatedAt time.Time // to the nanosecond, in UTC
	Reason    string    // why it was made: "new", "fresh" or "never announced an id"
}

const (
	runColumns = `id, session_id, seq, created_at, reason`

	insertRun = `INSERT INTO runs (` + runColumns + `) VALUES (?, ?, ?, ?, ?)`
	selectRun = `SELECT ` + runColumns + ` FROM runs WHERE id = ?`

	selectRuns = `SELECT ` + runColumns + ` FROM runs WHERE session_id = ? ORDER BY seq`

	nextSeq    = `SELECT max(seq) + 1 FROM runs WHERE session_id = ?`
	setCurrent = `UPDATE sessions SET current_run = ?, version = version + 1 WHERE id = ?`
)

// AddRun makes run the newest and current run of a session, if that is still at the
// given version (or whatever it is, for AnyVersion), and returns the session as it
// is now. SessionID and Seq of run need not be set. A session at another version
// gives a Stale error.
func (db *DB) AddRun(ctx context.Context, sessionID string, version int64, run Run) (Session, error) {
	var s Session
	err := db.write(ctx, func(tx *sql.Tx) (err error) {
		if s, err = readVersion(ctx, tx, sessionID, version); err != nil {
			return err
		}
		run.SessionID = s.ID
		if err := tx.QueryRowContext(ctx, nextSeq, s.ID).Scan(&run.Seq); err != nil {
			return err
		}
		if err := run.insert(ctx, tx); err != nil {
			return err
		}
		s.CurrentRun = run.ID
		s.Version++
		_, err = tx.ExecContext(ctx, setCurrent, run.ID, s.ID)
		return err
	})
	if err != nil {
		return Session{}, db.fail("record run "+printable(run.ID)+" in", err)
	}
	return s, nil
}

// Runs returns the runs of the session with this whole id, oldest first, or a
// NotFound error.
func (db *DB) Runs(ctx context.Context, sessionID string) ([]Run, error) {
	runs, err := collect(ctx, db.sql, scanRun, selectRuns, sessionID)
	if err == nil && len(runs) == 0 { // every session has one
		err = notFound("session", sessionID)
	}
	return runs, db.fail("read the runs of session "+printable(sessionID)+" from", err)
}

func (r *Run) insert(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, insertRun, r.ID, r.SessionID, r.Seq, r.CreatedAt.UnixNano(), r.Reason)
	return err
}

// row is a *sql.Row or the current one of *sql.Rows.
type row interface{ Scan(...any) error }

func scanRun(row row) (Run, error) {
	var r Run
	var created int64
	err := row.Scan(&r.ID, &r.SessionID, &r.Seq, &created, &r.Reason)
	r.CreatedAt = time.Unix(0, created).UTC()
	return r, err
}

// collect runs a query to its end, which frees the connection for the next call.
func collect[T any](ctx context.Context, q querier, scan func(row) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err has what matters
	var all []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}
