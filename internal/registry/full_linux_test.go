package registry

import (
	"path/filepath"
	"testing"

	"berth/internal/session"

	"golang.org/x/sys/unix"
)

func TestFullDisk(t *testing.T) {
	db := open(t, filepath.Join(tmpfs(t, "1m"), "berth.db"))
	request := make([]byte, 50_000)
	var made []string
	var full error
	for range 100 {
		id := session.NewID()
		if _, full = db.CreateSession(t.Context(), example(id, "A"), newRun(), request); full != nil {
			break
		}
		made = append(made, id)
	}
	wantError(t, full, session.Failed, db.path, "full")
	if len(made) == 0 {
		t.Fatal("not one session fitted")
	}
	check := func(db *DB) {
		t.Helper()
		page, err := db.List(t.Context(), Filter{})
		if err != nil || len(page.Entries) != len(made) {
			t.Fatalf("%d sessions of %d (%v)", len(page.Entries), len(made), err)
		}
		for _, id := range made {
			if got, err := db.Request(t.Context(), id); err != nil || len(got) != len(request) {
				t.Fatalf("request of %s: %d bytes (%v)", id, len(got), err)
			}
		}
	}
	check(db)
	if err := db.sql.Close(); err != nil {
		t.Fatal(err)
	}
	check(open(t, db.path))
}

func TestFullDiskAtFirstOpen(t *testing.T) {
	dir := tmpfs(t, "4k")
	write(t, filepath.Join(dir, "ballast"), make([]byte, 4096))
	path := filepath.Join(dir, "berth.db")
	_, err := Open(t.Context(), path)
	wantError(t, err, session.Failed, path, "no space left")
	if got := contents(t, path); len(got) > 20_000 {
		t.Errorf("left behind: %q", got)
	}
}

func TestFullDiskAtTheFirstMigration(t *testing.T) {
	dir := tmpfs(t, "64k")
	path := filepath.Join(dir, "berth.db")
	_, err := Open(t.Context(), path)
	wantError(t, err, session.Failed, path)
	t.Log(err)
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT, "size=8m"); err != nil {
		t.Fatal(err)
	}
	create(t, open(t, path), example("a", "A"))
}

// tmpfs mounts a small file system for the test. Without the right to mount there is
// no honest way to run out of space, and the test fails rather than say nothing.
func tmpfs(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size="+size); err != nil {
		t.Fatalf("cannot mount a tmpfs (%v): run this test as root, or under: unshare -rm", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Errorf("cannot unmount %s: %v", dir, err)
		}
	})
	return dir
}
