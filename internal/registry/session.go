package registry

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"berth/internal/session"
)

// Session is one row: what was decided about a session.
type Session struct {
	// Said when it was made; Update refuses to change them.
	ID        string
	Kind      string // "conversation" or "flow"
	Provider  string
	Model     string // "" is the provider's own choice
	Cwd       string
	CreatedAt time.Time // to the nanosecond, in UTC

	// Changed by Update.
	Title        string
	TitleSource  string     // "human", "generated" or "unavailable"
	Restart      string     // the restart policy: "never", "on-failure" or "always"
	ReadySummary *string    // what the agent said when it was ready, nil while it is not
	ReadyRun     string     // the run that said it, "" while ReadySummary is nil
	ClosedAt     *time.Time // when it was completed, nil while it is open

	// Kept by the registry.
	CurrentRun string // id of the newest run
	Version    int64  // 1, and one more with every change
}

const (
	sessionColumns = `id, kind, provider, model, cwd, created_at,
		title, title_source, restart, ready_summary, ready_run, closed_at, current_run, version`

	selectSession = `SELECT ` + sessionColumns + ` FROM sessions WHERE id = ?`

	insertSession = `
		INSERT INTO sessions (id, kind, provider, model, cwd, created_at,
			title, title_source, restart, ready_summary, ready_run, closed_at, haystack, current_run, version)
		VALUES (?, ?, ?, ?, ?, ?,  ?, ?, ?, ?, ?, ?, ?,  ?, 1)`

	updateSession = `
		UPDATE sessions
		SET title = ?, title_source = ?, restart = ?, ready_summary = ?, ready_run = ?, closed_at = ?, haystack = ?,
			version = version + 1
		WHERE id = ?`

	insertRequest = `INSERT INTO requests (n, body) VALUES (?, ?)`
	selectRequest = `
		SELECT (SELECT body FROM requests WHERE requests.n = sessions.n) FROM sessions WHERE id = ?`
)

// CreateSession records a new session with its first run and its opening request,
// all or nothing, and returns it. The request may be any bytes; it is nil or empty
// if there is none. CurrentRun and Version of s, and SessionID and Seq of run, need
// not be set.
func (db *DB) CreateSession(ctx context.Context, s Session, run Run, request []byte) (Session, error) {
	s.CurrentRun, s.Version = run.ID, 1
	run.SessionID, run.Seq = s.ID, 1
	err := db.write(ctx, func(tx *sql.Tx) error {
		if err := run.insert(ctx, tx); err != nil {
			return err
		}
		args := slices.Concat(s.fixed(), s.decided(), []any{run.ID})
		row, err := tx.ExecContext(ctx, insertSession, args...)
		if err != nil || len(request) == 0 {
			return err
		}
		n, err := row.LastInsertId()
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, insertRequest, n, request)
		return err
	})
	if err != nil {
		return Session{}, db.fail("record session "+printable(s.ID)+" in", err)
	}
	return s.normal(), nil
}

// Session returns the session with this whole id, or a NotFound error.
func (db *DB) Session(ctx context.Context, id string) (Session, error) {
	s, err := readSession(ctx, db.sql, id)
	return s, db.fail("read session "+printable(id)+" from", err)
}

// Request returns the opening request of the session with this whole id, nil if it
// has none, or a NotFound error.
func (db *DB) Request(ctx context.Context, id string) ([]byte, error) {
	var request []byte
	err := db.sql.QueryRowContext(ctx, selectRequest, id).Scan(&request)
	if errors.Is(err, sql.ErrNoRows) {
		err = notFound("session", id)
	}
	return request, db.fail("read the opening request of session "+printable(id)+" from", err)
}

// AnyVersion, as the version a change starts from, means whatever it is now.
const AnyVersion = 0

// Update changes the session with this whole id, if it is still at the given version
// (or whatever it is, for AnyVersion), and returns it as it is now. Nobody else can
// change it between what change is shown and what it leaves.
//
// A session that is at another version gives a Stale error. An error of change is
// returned as it is, and nothing happens. A change that changes nothing writes
// nothing and keeps the version. change must not use db, which it would wait for
// forever, and may change the fields that Session names so; others panic.
func (db *DB) Update(ctx context.Context, id string, version int64, change func(*Session) error) (Session, error) {
	var s Session
	var refusal error
	err := db.write(ctx, func(tx *sql.Tx) (err error) {
		if s, err = readVersion(ctx, tx, id, version); err != nil {
			return err
		}
		fixed, decided, run, at := s.fixed(), s.decided(), s.CurrentRun, s.Version
		if refusal = change(&s); refusal != nil {
			return refusal
		}
		if !slices.Equal(fixed, s.fixed()) || s.CurrentRun != run || s.Version != at {
			panic("internal error: a change of session " + id + " touched what never changes")
		}
		if slices.Equal(decided, s.decided()) {
			return nil
		}
		s.Version++
		_, err = tx.ExecContext(ctx, updateSession, append(s.decided(), id)...)
		return err
	})
	switch {
	case refusal != nil:
		return Session{}, refusal
	case err != nil:
		return Session{}, db.fail("change session "+printable(id)+" in", err)
	}
	return s.normal(), nil
}

// readVersion returns the session if it is at the given version.
func readVersion(ctx context.Context, q querier, id string, version int64) (Session, error) {
	s, err := readSession(ctx, q, id)
	if err == nil && version != AnyVersion && version != s.Version {
		err = session.Errorf(session.Stale, "session %s changed under you: it is at version %d, not %d", id, s.Version, version).
			WithHint("berth show %s", id)
	}
	return s, err
}

func readSession(ctx context.Context, q querier, id string) (Session, error) {
	s, err := scanSession(q.QueryRowContext(ctx, selectSession, id))
	if errors.Is(err, sql.ErrNoRows) {
		err = notFound("session", id)
	}
	return s, err
}
