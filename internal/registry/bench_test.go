package registry

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"berth/internal/session"
)

// The disk is that of TMPDIR: run with TMPDIR=/dev/shm to leave its syncs out.

func BenchmarkOpen(b *testing.B) {
	b.Run("first", func(b *testing.B) {
		dir := b.TempDir()
		for i := 0; b.Loop(); i++ {
			openClose(b, filepath.Join(dir, fmt.Sprint(i, ".db")))
		}
	})
	b.Run("again", func(b *testing.B) {
		db, _ := populated(b, 1000)
		if err := db.sql.Close(); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			openClose(b, db.path)
		}
	})
	b.Run("while another has it open", func(b *testing.B) {
		db, _ := populated(b, 1000)
		for b.Loop() {
			openClose(b, db.path)
		}
	})
}

func openClose(b *testing.B, path string) {
	db, err := Open(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkProcess is a whole process: the difference of its two is what Open costs
// a command.
func BenchmarkProcess(b *testing.B) {
	db := fresh(b)
	for _, name := range []string{"nothing", "open"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if out, err := child(name, db.path).CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
			}
		})
	}
}

func nothing([]string) error { return nil }

func openOnly(args []string) error {
	_, err := Open(context.Background(), args[0])
	return err
}

func BenchmarkCreate(b *testing.B) {
	for _, synchronous := range []string{"full", "normal"} { // what full costs over normal
		for _, size := range []int{200, 1 << 20} {
			b.Run(fmt.Sprint(synchronous, "/request=", size), func(b *testing.B) {
				db := fresh(b)
				if _, err := db.sql.Exec("PRAGMA synchronous = " + synchronous); err != nil {
					b.Fatal(err)
				}
				request := make([]byte, size)
				for b.Loop() {
					s := example(session.NewID(), "Fix the flaky login test on Tuesdays")
					if _, err := db.CreateSession(b.Context(), s, newRun(), request); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkUpdate(b *testing.B) {
	db := fresh(b)
	create(b, db, example("a", "A"))
	for i := 0; b.Loop(); i++ {
		_, err := db.Update(b.Context(), "a", AnyVersion, func(s *Session) error { s.Title = fmt.Sprint("Title ", i); return nil })
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkList is one page of 100 from 100,000 sessions, two of three closed.
func BenchmarkList(b *testing.B) {
	db, _ := populated(b, 100_000)
	for name, f := range map[string]Filter{
		"open":                       {},
		"all":                        {All: true},
		"all, deep offset":           {All: true, Offset: 90_000},
		"all, deep after":            {All: true, After: "s5000"},
		"provider":                   {Provider: "codex"},
		"provider of none":           {All: true, Provider: "none"},
		"directory":                  {Cwd: "/src/p3"},
		"search common":              {Search: "login"},
		"search two words":           {All: true, Search: "login bug"},
		"search and provider":        {Provider: "codex", Search: "login bug"},
		"search and directory":       {Cwd: "/src/p3", Search: "parser"},
		"search one session":         {All: true, Search: "session 77777"},
		"search nowhere":             {All: true, Search: "zebra crossing"},
		"search nowhere, all pieces": {All: true, Search: "login bug parser refactor session terminal"},
		"search nowhere, too short":  {All: true, Search: "qz"},
		"search common, in none":     {All: true, Provider: "none", Search: "login"},
	} {
		b.Run(name, func(b *testing.B) {
			f.Limit = 100
			for b.Loop() {
				if _, err := db.List(b.Context(), f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
