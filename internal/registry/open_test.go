package registry

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"berth/internal/session"

	"golang.org/x/sys/unix"
)

func TestFilesArePrivateUnderAnyUmask(t *testing.T) {
	for _, mask := range []int{0o000, 0o022, 0o077} {
		t.Run(fmt.Sprintf("%03o", mask), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "berth.db")
			defer unix.Umask(unix.Umask(mask))
			db := open(t, path)
			create(t, db, example("a", "A"))
			for _, suffix := range []string{"", "-wal", "-shm"} {
				st, err := os.Stat(path + suffix)
				if err != nil {
					t.Fatal(err)
				}
				want := fs.FileMode(0o600 &^ mask)
				if st.Mode().Perm() != want {
					t.Errorf("berth.db%s has mode %v, want %v", suffix, st.Mode().Perm(), want)
				}
			}
		})
	}
}

func TestConnectionSettings(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "odd ?name=1#2%20&é.db"))
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "30000",
		"integrity_check": "ok", "application_id": "1651668072", "user_version": fmt.Sprint(len(migrations)),
	} {
		var got string
		if err := db.sql.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q (%v), want %q", pragma, got, err, want)
		}
	}
}

func TestEmptyDatabaseIsSound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	write(t, path, emptyDatabase())
	pool, err := sql.Open("sqlite", source(path))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	for pragma, want := range map[string]string{"integrity_check": "ok", "journal_mode": "wal", "user_version": "0", "page_count": "1"} {
		var got string
		if err := pool.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q (%v), want %q", pragma, got, err, want)
		}
	}
}

func TestMigratesFromTheBeginning(t *testing.T) {
	path := filepath.Join(t.TempDir(), "berth.db")
	write(t, path, emptyDatabase())
	create(t, open(t, path), example("a", "A"))
	if s, err := open(t, path).Session(t.Context(), "a"); err != nil || s.Title != "A" {
		t.Fatal(s, err)
	}
}

func TestFailedMigrationLeavesTheOldSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "berth.db")
	create(t, open(t, path), example("a", "A"))
	defer func(old []string) { migrations = old }(migrations)
	migrations = append(migrations[:len(migrations):len(migrations)], `CREATE TABLE extra (x); CREATE TABLE runs (x)`)
	_, err := Open(t.Context(), path)
	wantError(t, err, session.Failed, path, "runs")
	migrations = migrations[:len(migrations)-1]
	if _, err := open(t, path).Session(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
}

func TestRefusals(t *testing.T) {
	made := func(t *testing.T, path string) {
		db, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		create(t, db, example("a", "A"))
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	statement := func(t *testing.T, path, statement string) {
		pool, err := sql.Open("sqlite", "file:"+path)
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		if _, err := pool.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		prepare func(t *testing.T, path string)
		words   []string
	}{
		"newer schema": {func(t *testing.T, path string) {
			made(t, path)
			statement(t, path, "PRAGMA user_version = 7")
		}, []string{"has schema 7", "knows up to 1", "newer berth"}},
		"somebody else's database": {func(t *testing.T, path string) {
			statement(t, path, "CREATE TABLE theirs (x); PRAGMA journal_mode = wal")
			if err := os.Chmod(path, 0o600); err != nil {
				t.Fatal(err)
			}
		}, []string{"not a registry of berth"}},
		"not a database": {func(t *testing.T, path string) {
			write(t, path, bytes.Repeat([]byte("my notes\n"), 1000))
		}, []string{"not a database", "mv "}},
		"short garbage": {func(t *testing.T, path string) {
			write(t, path, []byte("x"))
		}, []string{"not a registry of berth"}},
		"first page zeroed": {func(t *testing.T, path string) {
			made(t, path)
			patch(t, path, 0, make([]byte, 4096))
		}, []string{"not a database"}},
		"emptied": {func(t *testing.T, path string) {
			write(t, path, nil)
		}, []string{"is empty", "mv "}},
		"gone, its log left": {func(t *testing.T, path string) {
			write(t, path+"-wal", []byte("frames"))
		}, []string{"is gone", "-wal"}},
		"link": {func(t *testing.T, path string) {
			made(t, path+".real")
			link(t, path+".real", path)
		}, []string{"link"}},
		"link to nowhere": {func(t *testing.T, path string) {
			link(t, path+".nowhere", path)
		}, []string{"link"}},
		"log is a link": {func(t *testing.T, path string) {
			made(t, path)
			link(t, path+".nowhere", path+"-wal")
		}, []string{"link", "-wal"}},
		"directory": {func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, []string{"not a regular file"}},
		"others may read it": {func(t *testing.T, path string) {
			made(t, path)
			if err := os.Chmod(path, 0o640); err != nil {
				t.Fatal(err)
			}
		}, []string{"0640", "chmod 600 "}},
		"foreign owner": {func(t *testing.T, path string) {
			made(t, path)
			if err := os.Chown(path, 12345, -1); err != nil {
				t.Skipf("only root can give a file away: %v", err)
			}
		}, []string{"uid 12345"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "berth.db")
			c.prepare(t, path)
			before := contents(t, path)
			_, err := Open(t.Context(), path)
			wantError(t, err, session.Failed, append(c.words, path)...)
			if after := contents(t, path); after != before {
				t.Errorf("the files changed:\n%.200q\n%.200q", before, after)
			}
		})
	}
}

func TestDamageInsideIsNamedAndKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "berth.db")
	db, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		create(t, db, example(session.NewID(), "A"))
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	patch(t, path, 4096, bytes.Repeat([]byte{0xa5}, int(st.Size())-4096)) // all but the schema
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	db = open(t, path)
	_, err = db.List(t.Context(), Filter{})
	wantError(t, err, session.Failed, path, "malformed", "mv ")
	_, err = db.CreateSession(t.Context(), example("b", "B"), newRun(), nil)
	wantError(t, err, session.Failed, path)
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Error("the damaged file was changed")
	}
}

func TestMissingDirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "no", "berth.db")
	_, err := Open(t.Context(), path)
	wantError(t, err, session.Failed, path)
}

func TestFirstOpenByManyProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "berth.db")
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if out, err := child("first-open", path, fmt.Sprint("session-", i)).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	page, err := open(t, path).List(t.Context(), Filter{})
	if err != nil || len(page.Entries) != 20 {
		t.Fatalf("%d sessions of 20 (%v)", len(page.Entries), err)
	}
	left, err := filepath.Glob(filepath.Dir(path) + "/*")
	if err != nil || len(left) != 4 { // with its log, its index and its writers' lock
		t.Errorf("files left over: %v %v", left, err)
	}
}

// firstOpen is a process that opens the registry and records a session.
func firstOpen(args []string) error {
	ctx, path, id := context.Background(), args[0], args[1]
	db, err := Open(ctx, path)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.CreateSession(ctx, example(id, id), newRun(), nil)
	return err
}

func child(name string, args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), childEnv+"="+name)
	return cmd
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}

func patch(t *testing.T, path string, at int64, data []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(data, at); err != nil {
		t.Fatal(err)
	}
}

// contents is every file beside path, with name, target and bytes.
func contents(t *testing.T, path string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(filepath.Dir(path), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target, _ := os.Readlink(name)
		var data []byte
		if d.Type().IsRegular() {
			if data, err = os.ReadFile(name); err != nil {
				return err
			}
		}
		fmt.Fprintf(&all, "%s %q %q\n", name, target, data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
