package registry

import (
	"context"
	"fmt"
	"strings"

	"berth/internal/session"
)

// maxCandidates is how many candidates an ambiguous name lists.
const maxCandidates = 8

const (
	sessionsFrom = `
		SELECT id, title FROM sessions WHERE id >= ? AND id < ? ORDER BY id LIMIT ?`
	runsFrom = `
		SELECT runs.id, title FROM runs JOIN sessions ON sessions.id = session_id
		WHERE runs.id >= ? AND runs.id < ? ORDER BY runs.id LIMIT ?`
)

// Resolve returns the whole id of the session that ref names: an id, or a prefix of
// at least session.MinPrefix characters that only one id has, in either case and with
// Crockford's look-alikes folded. A whole id wins over those it is a prefix of.
//
// No such session, or several (the error names up to eight), is a NotFound error; a
// shorter prefix is a Usage error.
func (db *DB) Resolve(ctx context.Context, ref string) (id string, err error) {
	id, err = db.resolve(ctx, "session", sessionsFrom, ref)
	return id, db.fail("look for session "+printable(ref)+" in", err)
}

// ResolveRun returns the run that ref names, by the same rules as Resolve.
func (db *DB) ResolveRun(ctx context.Context, ref string) (Run, error) {
	var run Run
	id, err := db.resolve(ctx, "run", runsFrom, ref)
	if err == nil {
		run, err = scanRun(db.sql.QueryRowContext(ctx, selectRun, id))
	}
	return run, db.fail("look for run "+printable(ref)+" in", err)
}

// candidate is a session or run that a prefix may mean.
type candidate struct{ id, title string }

func scanCandidate(row row) (c candidate, err error) {
	err = row.Scan(&c.id, &c.title)
	return c, err
}

func (db *DB) resolve(ctx context.Context, what, query, ref string) (string, error) {
	spellings := []string{ref}
	if folded := session.NormalizeID(ref); folded != ref {
		spellings = append(spellings, folded)
	}
	var found []candidate // of different spellings, hence different
	for _, prefix := range spellings {
		// No id has the byte 0xff. A whole id sorts before all it is a prefix of.
		matches, err := collect(ctx, db.sql, scanCandidate, query, prefix, prefix+"\xff", maxCandidates+1)
		if err != nil {
			return "", err
		}
		if len(matches) > 0 && matches[0].id == prefix {
			return prefix, nil
		}
		found = append(found, matches...)
	}
	switch {
	case len(ref) < session.MinPrefix:
		return "", session.Errorf(session.Usage, "%s is too short to name a %s: give at least %d characters of its id",
			printable(ref), what, session.MinPrefix).WithHint("berth list --all")
	case len(found) == 0:
		return "", notFound(what, ref)
	case len(found) > 1:
		return "", ambiguous(what, ref, found)
	}
	return found[0].id, nil
}

func ambiguous(what, ref string, found []candidate) error {
	var names []string
	for _, c := range found[:min(len(found), maxCandidates)] {
		names = append(names, fmt.Sprintf("%s (%s)", c.id, c.title))
	}
	if len(found) > maxCandidates {
		names = append(names, "…")
	}
	return session.Errorf(session.NotFound, "%s may be any %s of %s", printable(ref), what, strings.Join(names, ", ")).
		WithHint("give more characters of the id")
}
