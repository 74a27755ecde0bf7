package registry

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestListMatchesAPlainWalk(t *testing.T) {
	db, all := populated(t, rareHits+100)
	for _, f := range []Filter{{}, {Provider: "codex"}, {Cwd: "/src/p3"}, {Provider: "codex", Cwd: "/src/p3"}, {Provider: "none"}} {
		for _, search := range []string{"", "fix", "FLAKY login", "o", "zz", "SESSION" /* is common */, "session 77", "/SRC/p3", "ΟΔΌΣ", "100%", "_", "nowhere at all", "login\n/src"} {
			for _, whole := range []bool{false, true} {
				f.Search, f.All = search, whole
				compare(t, db, all, f)
			}
		}
	}
}

// compare checks List, in one and in pages by After and Offset, and Each against a
// walk over all sessions.
func compare(t *testing.T, db *DB, all []Session, f Filter) {
	t.Helper()
	want := []Session{}
	for _, s := range slices.Backward(all) {
		if matches(s, f) {
			want = append(want, s)
		}
	}
	page, err := db.List(t.Context(), f)
	if err != nil || page.Next != "" || !reflect.DeepEqual(page.Entries, want) {
		t.Fatalf("%+v: %d sessions, next %q (%v), want %d", f, len(page.Entries), page.Next, err, len(want))
	}
	f.Limit = 1 + len(want)/3
	got, pages := []Session{}, 0
	for byAfter := f; ; pages++ {
		page, err := db.List(t.Context(), byAfter)
		if err != nil {
			t.Fatal(err)
		}
		byOffset := f
		byOffset.Offset = pages * f.Limit
		if same, err := db.List(t.Context(), byOffset); err != nil || !reflect.DeepEqual(same, page) {
			t.Fatalf("%+v: offset and after differ (%v)", byAfter, err)
		}
		got = append(got, page.Entries...)
		if page.Next == "" {
			break
		}
		if len(page.Entries) != f.Limit {
			t.Fatalf("%+v: a page of %d with a next one", byAfter, len(page.Entries))
		}
		byAfter.After, byAfter.Offset = page.Next, 5 // which After voids
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v: pages of %d differ from the list of %d", f, len(got), len(want))
	}
	got = []Session{}
	for s, err := range db.Each(t.Context(), f) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, s)
	}
	if !reflect.DeepEqual(got, want[:min(len(want), f.Limit)]) {
		t.Fatalf("%+v: Each yields %d sessions", f, len(got))
	}
}

func matches(s Session, f Filter) bool {
	return (f.All || s.ClosedAt == nil) && (f.Provider == "" || s.Provider == f.Provider) && (f.Cwd == "" || s.Cwd == f.Cwd) &&
		(containsFold(s.Title, f.Search) || containsFold(s.Cwd, f.Search))
}

// containsFold looks at every window of s with the standard library's own notion
// of case.
func containsFold(s, needle string) bool {
	clean := strings.NewReplacer("\x00", "�", "\n", "�")
	hay, n := []rune(clean.Replace(s)), utf8.RuneCountInString(needle)
	for i := 0; i+n <= len(hay); i++ {
		if strings.EqualFold(string(hay[i:i+n]), clean.Replace(string([]rune(needle)))) {
			return true
		}
	}
	return false
}

func TestSearchFollowsTheTitle(t *testing.T) {
	db := fresh(t)
	create(t, db, example("a", "Old name"))
	if _, err := db.Update(t.Context(), "a", 1, func(s *Session) error { s.Title = "New title"; return nil }); err != nil {
		t.Fatal(err)
	}
	for search, want := range map[string]int{"old name": 0, "new title": 1, "ne": 1, "e\n/": 0} {
		page, err := db.List(t.Context(), Filter{Search: search})
		if err != nil || len(page.Entries) != want {
			t.Errorf("%q: %d sessions (%v), want %d", search, len(page.Entries), err, want)
		}
	}
}

func TestEachLeavesTheDatabaseFree(t *testing.T) {
	db, all := populated(t, 3*chunkRows)
	seen := map[string]bool{}
	for s, err := range db.Each(t.Context(), Filter{All: true}) {
		if err != nil || seen[s.ID] {
			t.Fatal(s.ID, err)
		}
		seen[s.ID] = true
		if len(seen)%50 == 0 {
			create(t, db, example(fmt.Sprint("during-", len(seen)), "New"))
			now := time.Now()
			if _, err := db.Update(t.Context(), s.ID, s.Version, func(s *Session) error { s.ClosedAt = &now; return nil }); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(seen) != len(all) {
		t.Errorf("%d sessions of %d", len(seen), len(all))
	}
}

func TestEachEndsWithTheContext(t *testing.T) {
	db, _ := populated(t, 2*chunkRows)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n, failed := 0, error(nil)
	for _, err := range db.Each(ctx, Filter{All: true}) {
		if failed = err; err == nil {
			n++
			cancel()
		}
	}
	if n != chunkRows || failed == nil || !strings.Contains(failed.Error(), db.path) {
		t.Errorf("%d sessions, then %v", n, failed)
	}
}

// FuzzSearch compares the search for any text in any title with containsFold.
func FuzzSearch(f *testing.F) {
	db := fresh(f)
	for _, seed := range [][2]string{
		{"Fix the login bug", "LOGIN"}, {"100%", "%"}, {"100 ", "%"}, {"a_b", "_"}, {"axb", "a_b"}, {`say "hi"`, `"hi"`}, {"a\\b", "\\"},
		{"Straße", "STRASSE"}, {"ὈΔΥΣΣΕΎΣ", "ὀδυσσεύς"}, {"K", "\u212a"}, {"İstanbul", "istanbul"}, {"x\x00y", "x\x00y"}, {"bad \xff\xfe!", "\xff\xfe!"},
		{"日本語のテスト", "語のテ"}, {"日本", "本"}, {"e\u0301tude", "e\u0301t"}, {"OR AND NOT", "and not"}, {"*", "*"}, {"a b c", "b"}, {"title", ""}, {"NEAR(a b)", "near(a"},
	} {
		f.Add(seed[0], seed[1])
	}
	n := 0
	f.Fuzz(func(t *testing.T, title, search string) {
		n++
		s := example(fmt.Sprint("s", n), title)
		s.Cwd = fmt.Sprint("/", n) // one session each
		create(t, db, s)
		for _, needle := range []string{search, title, strings.ToUpper(title)} {
			page, err := db.List(t.Context(), Filter{Cwd: s.Cwd, Search: needle})
			if err != nil {
				t.Fatal(err)
			}
			if want := containsFold(title, needle) || containsFold(s.Cwd, needle); (len(page.Entries) == 1) != want {
				t.Errorf("%q in %q: %v, want %v", needle, title, !want, want)
			}
			if want := len(page.Entries) == 1; want != (strings.Contains(haystack(&s), fold(needle))) {
				t.Errorf("%q in %q: the index hides it", needle, title)
			}
		}
	})
}

func TestQueryPlans(t *testing.T) {
	db, _ := populated(t, 10)
	const hits = " | LIST SUBQUERY 1 | SCAN json_each VIRTUAL TABLE"
	for name, c := range map[string]struct {
		f    Filter
		rare bool
		want string
	}{
		"open":              {Filter{}, false, "SCAN sessions USING INDEX sessions_open"},
		"all":               {Filter{All: true}, false, "SCAN sessions"},
		"open, after":       {Filter{After: "s1"}, false, "SEARCH sessions USING INDEX sessions_open (n<?) | SCALAR"},
		"all, after":        {Filter{All: true, After: "s1"}, false, "SEARCH sessions USING INTEGER PRIMARY KEY (rowid<?) | SCALAR"},
		"provider":          {Filter{Provider: "x"}, false, "SEARCH sessions USING INDEX sessions_open_provider (provider=?)"},
		"provider, after":   {Filter{Provider: "x", After: "s1"}, false, "SEARCH sessions USING INDEX sessions_open_provider (provider=? AND rowid<?) | SCALAR"},
		"provider of all":   {Filter{All: true, Provider: "x"}, false, "SEARCH sessions USING INDEX sessions_provider (provider=?)"},
		"directory":         {Filter{Cwd: "/", Provider: "x"}, false, "SEARCH sessions USING INDEX sessions_open_cwd (cwd=?)"},
		"directory of all":  {Filter{All: true, Cwd: "/"}, false, "SEARCH sessions USING INDEX sessions_cwd (cwd=?)"},
		"common search":     {Filter{Search: "fix"}, false, "SCAN sessions USING INDEX sessions_open"},
		"common, provider":  {Filter{Search: "fix", Provider: "x"}, false, "SEARCH sessions USING INDEX sessions_open_provider (provider=?)"},
		"rare search":       {Filter{Search: "fix"}, true, "SEARCH sessions USING INTEGER PRIMARY KEY (rowid=?)" + hits},
		"rare in directory": {Filter{Search: "fix", Cwd: "/"}, true, "SEARCH sessions USING INTEGER PRIMARY KEY (rowid=?)" + hits},
	} {
		t.Run(name, func(t *testing.T) {
			hits := ""
			if c.rare {
				hits = "[3,1]"
			}
			statement, args := c.f.statement(fold(c.f.Search), hits, 101)
			got := plan(t, db, statement, args...)
			if !strings.HasPrefix(got, c.want) || (strings.Contains(got, "TEMP B-TREE") && !c.rare) {
				t.Errorf("plan of %s:\n%s\nwant %s", statement, got, c.want)
			}
		})
	}
	// Not even to check a reference to what they write may these walk a table.
	for _, statement := range []string{insertRun, insertSession, insertRequest, updateSession, setCurrent, nextSeq, selectSession, selectRuns, selectRun, selectRequest} {
		args := make([]any, strings.Count(statement, "?"))
		if got := plan(t, db, statement, args...); strings.Contains(got, "SCAN sessions") || strings.Contains(got, "SCAN runs") {
			t.Errorf("plan of %s:\n%s", statement, got)
		}
	}
}

func plan(t *testing.T, db *DB, statement string, args ...any) string {
	t.Helper()
	lines, err := collect(t.Context(), db.sql, func(r row) (line string, err error) {
		var id, parent, unused int
		err = r.Scan(&id, &parent, &unused, &line)
		return line, err
	}, "EXPLAIN QUERY PLAN "+statement, args...)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return strings.Join(lines, " | ")
}

// populated is a registry with so many sessions, and those, oldest first. Two of
// three are closed.
func populated(t testing.TB, n int) (*DB, []Session) {
	t.Helper()
	db := fresh(t)
	words := []string{"fix", "the", "login", "bug", "parser", "refactor", "database", "tests", "terminal", "session", "review", "docs", "Flaky", "Οδός", "100%"}
	random := rand.New(rand.NewPCG(1, 2))
	all := make([]Session, n)
	tx, err := db.sql.Begin() // one transaction: a commit each would take long
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		title := ""
		for range 5 {
			title += words[random.IntN(len(words))] + " "
		}
		s := example(fmt.Sprint("s", i), fmt.Sprint(title, "session ", i))
		s.Provider = []string{"claude", "codex", "gemini"}[random.IntN(3)]
		s.Cwd = fmt.Sprint("/src/p", i%50)
		s.CreatedAt = time.Unix(1e9, int64(random.Uint32())) // no order at all
		if i%3 != 0 {
			now := time.Now()
			s.ClosedAt = &now
		}
		run := Run{ID: fmt.Sprint("r", i), SessionID: s.ID, Seq: 1}
		s.CurrentRun, s.Version = run.ID, 1
		all[i] = s.normal()
		if err := run.insert(context.Background(), tx); err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(insertSession, slices.Concat(s.fixed(), s.decided(), []any{run.ID})...); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	return db, all
}
