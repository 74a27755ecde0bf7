//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"berth/internal/control"
	"berth/internal/session"
	"berth/lock"
)

// gc removes litter and nothing else; --dry-run only says so.
func TestGCRemovesLitterOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	live, dead := w.newDemo("live"), w.newDemo("dead")
	syscall.Kill(dead.Supervisor.PID, syscall.SIGKILL)
	w.eventually("its supervisor is gone, and its locks with it", func() bool {
		held, _, err := lock.Held(filepath.Join(w.home, "locks"), dead.ID, lock.Life)
		return err == nil && !held
	})
	old := time.Now().Add(-30 * 24 * time.Hour)
	litter := []string{
		filepath.Join(w.home, "runs", live.Run[:2], ".publish-1"),
		filepath.Join(w.runDir(live), ".tmp", "native.json-1"),
		filepath.Join(w.home, "sock", dead.Run),
	}
	fresh := filepath.Join(w.runDir(live), ".tmp", "being-written")
	for _, p := range append(litter[:2:2], fresh) {
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range litter[:2] {
		if err := os.Chtimes(p, old, old); err != nil {
			t.Fatal(err)
		}
	}
	answered := func(r session.Record) (paths []string) { // a request of long ago
		for _, name := range []string{"1.done.json", "1.json"} {
			p := filepath.Join(w.runDir(r), "requests", name)
			if err := os.WriteFile(p, []byte("{}"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(p, old, old); err != nil {
				t.Fatal(err)
			}
			paths = append(paths, p)
		}
		return paths
	}
	answered(live) // its supervisor counts on the number
	litter = append(litter, answered(dead)...)
	check := func(name string, want []string, args ...string) {
		t.Helper()
		var found []control.Litter
		w.run(args...).want(0).decode(&found)
		got := map[string]bool{}
		for _, l := range found {
			got[l.Path] = true
		}
		for _, p := range want {
			if !got[p] {
				t.Errorf("%s: %s is not found", name, p)
			}
			delete(got, p)
		}
		if len(got) > 0 {
			t.Errorf("%s: no litter: %v", name, got)
		}
	}
	check("dry run", litter, "gc", "--dry-run", "--json")
	check("for real", litter, "gc", "--json")
	check("again", nil, "gc", "--json")
	if _, err := os.Stat(fresh); err != nil {
		t.Error("a file being written is gone:", err)
	}
	w.run("capture", live.ID).want(0)
	w.run("restart", dead.ID).want(0)
}
