package registry

import (
	"context"
	"iter"
	"strings"
)

// Filter says which sessions a list has. The zero Filter is all open ones.
type Filter struct {
	All      bool   // closed sessions too
	Provider string // only this provider's, "" is any
	Cwd      string // only those in exactly this directory, "" is any
	Search   string // only those with this in title or directory, in any case; "" is any

	After  string // start after the session with this whole id, which need not match; voids Offset
	Offset int    // leave out this many first
	Limit  int    // at most so many; 0 is all
}

// Page is one part of a list.
type Page struct {
	Entries []Session
	Next    string // the After of the next page, "" if this is the last
}

// List returns the sessions that match f, the latest recorded first. An After that
// is no session is a NotFound error.
func (db *DB) List(ctx context.Context, f Filter) (Page, error) {
	page := Page{Entries: []Session{}}
	limit := f.Limit
	f.Limit = 0 // one more than the limit tells whether there is a next page
	for s, err := range db.Each(ctx, f) {
		if err != nil {
			return Page{}, err
		}
		if limit > 0 && len(page.Entries) == limit {
			page.Next = page.Entries[limit-1].ID
			break
		}
		page.Entries = append(page.Entries, s)
	}
	return page, nil
}

// chunkRows is how many rows Each reads at a time: a page of 100 and the one after.
const chunkRows = 101

// Each yields what List returns, for callers who filter on more than the registry
// knows and stop when they have enough. It ends after an error, which it yields with
// a zero Session.
//
// It holds nothing between two sessions, so the caller may use db meanwhile and take
// its time. A session that changes meanwhile is seen as before or as after; a new one
// is not seen.
func (db *DB) Each(ctx context.Context, f Filter) iter.Seq2[Session, error] {
	return func(yield func(Session, error) bool) {
		fail := func(err error) { yield(Session{}, db.fail("list the sessions in", err)) }
		if f.After != "" {
			if _, err := readSession(ctx, db.sql, f.After); err != nil {
				fail(err)
				return
			}
			f.Offset = 0
		}
		needle := fold(f.Search)
		hits, err := db.rareIn(ctx, needle)
		if err != nil {
			fail(err)
			return
		}
		for left := f.Limit; ; {
			want := chunkRows
			if f.Limit > 0 {
				want = min(left, want)
			}
			statement, args := f.statement(needle, hits, want)
			chunk, err := collect(ctx, db.sql, scanSession, statement, args...)
			if err != nil {
				fail(err)
				return
			}
			for _, s := range chunk {
				if !yield(s, nil) {
					return
				}
			}
			if left -= len(chunk); len(chunk) < want || left == 0 {
				return
			}
			f.After, f.Offset = chunk[len(chunk)-1].ID, 0
		}
	}
}

// statement is the query for the next want rows of f. It names the index to walk,
// which is in the order of the list, so that it stops where the page is full;
// except for a rare needle, whose few hits are looked up and sorted.
func (f Filter) statement(needle, hits string, want int) (string, []any) {
	var where []string
	var args []any
	and := func(term string, values ...any) {
		where = append(where, term)
		args = append(args, values...)
	}
	index := "sessions"
	if !f.All {
		index += "_open"
		and("closed_at IS NULL")
	}
	if f.Cwd != "" {
		and("cwd = ?", f.Cwd)
	}
	if f.Provider != "" {
		and("provider = ?", f.Provider)
	}
	if hits != "" {
		and("n IN (SELECT value FROM json_each(?))", hits)
	}
	if needle != "" {
		and("instr(haystack, ?) > 0", needle)
	}
	if f.After != "" {
		and("n < (SELECT n FROM sessions WHERE id = ?)", f.After)
	}
	switch {
	case hits != "":
		index = ""
	case f.Cwd != "":
		index += "_cwd"
	case f.Provider != "":
		index += "_provider"
	case f.All:
		index = ""
	}
	by := " NOT INDEXED" // by n itself
	if index != "" {
		by = " INDEXED BY " + index
	}
	query := "SELECT " + sessionColumns + " FROM sessions" + by
	if len(where) > 0 {
		query += " WHERE " + strings.Join(where, " AND ")
	}
	return query + " ORDER BY n DESC LIMIT ? OFFSET ?", append(args, want, f.Offset)
}
