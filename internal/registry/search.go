package registry

import (
	"context"
	"encoding/json"
	"strings"
	"unicode"
)

// Search is for a substring in any case. Titles and paths are stored folded, as the
// haystack, and instr decides whether a folded needle is in it. At 100,000 sessions
// a needle that is nowhere would take 28 ms to be looked for in every one, so the
// table search says which haystacks have all three-character pieces of the needle:
// a handful for most, and none for a needle that is nowhere. Where they are many,
// walking the list meets enough of them soon.

// rareHits is how many haystacks may have a needle's pieces for it to be rare.
const rareHits = 500

// maxPieces bounds the pieces looked up for a long needle; instr sees all of it.
const maxPieces = 12

const selectHits = `SELECT rowid FROM search WHERE search MATCH ? LIMIT ?`

// haystackSep stands between title and path; fold never returns it.
const haystackSep = "\n"

// haystack is what search looks at in a session.
func haystack(s *Session) string { return fold(s.Title) + haystackSep + fold(s.Cwd) }

// fold maps the characters that differ only in case to one of them, and what no
// title or needle has a use for to U+FFFD.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if r == 0 || r == '\n' {
			return unicode.ReplacementChar
		}
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, s)
}

// pieces is a query of the table search for haystacks that may contain the needle:
// all that do, and few others. It is "" if the needle is too short for one.
func pieces(needle string) string {
	const size = 3
	runes := []rune(needle)
	if len(runes) < size {
		return ""
	}
	var query []string
	for at := 0; at < len(runes) && len(query) < maxPieces; at += size {
		at := min(at, len(runes)-size) // the last piece may overlap the one before
		query = append(query, `"`+strings.ReplaceAll(string(runes[at:at+size]), `"`, `""`)+`"`)
	}
	return strings.Join(query, " ")
}

// rareIn returns where a rare needle may be, as a JSON array of n, and "" for one
// that is common or too short to be looked up.
func (db *DB) rareIn(ctx context.Context, needle string) (string, error) {
	query := pieces(needle)
	if query == "" {
		return "", nil
	}
	hits, err := collect(ctx, db.sql, func(row row) (n int64, err error) {
		err = row.Scan(&n)
		return n, err
	}, selectHits, query, rareHits+1)
	if err != nil || len(hits) > rareHits {
		return "", err
	}
	list, err := json.Marshal(append([]int64{}, hits...))
	return string(list), err
}
