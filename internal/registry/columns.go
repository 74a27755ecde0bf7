package registry

import (
	"database/sql"
	"time"
)

// scanSession reads one row of sessionColumns.
func scanSession(row row) (Session, error) {
	var s Session
	var created int64
	var closed sql.NullInt64
	var readyRun sql.NullString
	err := row.Scan(&s.ID, &s.Kind, &s.Provider, &s.Model, &s.Cwd, &created,
		&s.Title, &s.TitleSource, &s.Restart, &s.ReadySummary, &readyRun, &closed, &s.CurrentRun, &s.Version)
	if err != nil {
		return Session{}, err
	}
	s.CreatedAt = time.Unix(0, created).UTC()
	s.ReadyRun = readyRun.String
	if closed.Valid {
		at := time.Unix(0, closed.Int64).UTC()
		s.ClosedAt = &at
	}
	return s, nil
}

// fixed are the values of s that never change, in the order of insertSession.
func (s *Session) fixed() []any {
	return []any{s.ID, s.Kind, s.Provider, s.Model, s.Cwd, s.CreatedAt.UnixNano()}
}

// decided are the values of s that Update writes, in the order of updateSession.
func (s *Session) decided() []any {
	var summary, run, closed any
	if s.ReadySummary != nil {
		summary = *s.ReadySummary
	}
	if s.ReadyRun != "" {
		run = s.ReadyRun
	}
	if s.ClosedAt != nil {
		closed = s.ClosedAt.UnixNano()
	}
	return []any{s.Title, s.TitleSource, s.Restart, summary, run, closed, haystack(s)}
}

// normal is s as a later read returns it.
func (s Session) normal() Session {
	s.CreatedAt = time.Unix(0, s.CreatedAt.UnixNano()).UTC()
	if s.ClosedAt != nil {
		at := time.Unix(0, s.ClosedAt.UnixNano()).UTC()
		s.ClosedAt = &at
	}
	return s
}
