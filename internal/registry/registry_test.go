package registry

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/session"
)

// TestMain lets a test run this binary again as one of several processes: the name
// in childEnv says which of children it is.
func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		if err := children[name](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

const childEnv = "REGISTRY_TEST_CHILD"

var children = map[string]func(args []string) error{
	"first-open": firstOpen,
	"counter":    countForever,
	"nothing":    nothing,
	"open":       openOnly,
}

func open(t testing.TB, path string) *DB {
	t.Helper()
	db, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func fresh(t testing.TB) *DB {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "berth.db"))
}

// example is a plain session with this id and title.
func example(id, title string) Session {
	return Session{
		ID: id, Kind: "conversation", Provider: "claude", Cwd: "/src/shop", CreatedAt: time.Now(),
		Title: title, TitleSource: "human", Restart: "never",
	}
}

func create(t testing.TB, db *DB, s Session) Session {
	t.Helper()
	s, err := db.CreateSession(context.Background(), s, newRun(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newRun() Run { return Run{ID: session.NewID(), CreatedAt: time.Now(), Reason: "new"} }

// wantError fails unless err has the class and names every one of the words.
func wantError(t testing.TB, err error, class session.Class, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one that names %q", words)
	}
	if got := session.ClassOf(err); got != class {
		t.Errorf("error of class %d, want %d: %v", got, class, err)
	}
	text := err.Error() + "\n" + session.HintOf(err)
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("error does not name %q: %s", w, text)
		}
	}
}
