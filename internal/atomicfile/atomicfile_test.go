package atomicfile

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func TestWriteReplacesWholeAndPrivately(t *testing.T) {
	for _, c := range []struct {
		name   string
		tmp    bool // the directory has a TempDir
		before string
		mode   os.FileMode
	}{
		{"new file", false, "", 0},
		{"old file", false, "old", 0o600},
		{"old file that others could read", false, "old", 0o644},
		{"with a directory for temporary files", true, "old", 0o600},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "file")
			if c.tmp {
				must(t, os.Mkdir(filepath.Join(dir, TempDir), 0o700))
			}
			if c.before != "" {
				must(t, os.WriteFile(path, []byte(c.before), c.mode))
			}
			must(t, Write("test", path, []byte("new")))
			st, err := os.Stat(path)
			must(t, err)
			if data, _ := os.ReadFile(path); string(data) != "new" || st.Mode().Perm() != 0o600 {
				t.Errorf("%q, mode %04o", data, st.Mode().Perm())
			}
			if left := files(t, dir); len(left) != 1 {
				t.Errorf("left beside it: %v", left)
			}
		})
	}
}

// Whatever goes wrong, the old bytes stay, the error names file and operation, and
// nothing is left behind.
func TestFailedWritesLeaveTheOldVersion(t *testing.T) {
	for _, c := range []struct {
		name  string
		call  func(path string) error
		spoil func(t *testing.T, path string)
		is    error
	}{
		{"write onto a directory", func(p string) error { return Write("op-label", p, []byte("new")) },
			func(t *testing.T, p string) { must(t, os.Mkdir(p, 0o700)); must(t, os.WriteFile(p+"/x", nil, 0o600)) }, nil},
		{"drop onto a directory", func(p string) error { return Drop("op-label", p, 1) },
			func(t *testing.T, p string) { must(t, os.Mkdir(p, 0o700)); must(t, os.WriteFile(p+"/x", nil, 0o600)) }, nil},
		{"create over a file", func(p string) error { return Create("op-label", p, []byte("new")) },
			func(t *testing.T, p string) { must(t, os.WriteFile(p, []byte("old"), 0o600)) }, fs.ErrExist},
		{"create over a dangling link", func(p string) error { return Create("op-label", p, []byte("new")) },
			func(t *testing.T, p string) { must(t, os.Symlink("nowhere", p)) }, fs.ErrExist},
		{"drop a value that has no JSON", func(p string) error { return Drop("op-label", p, func() {}) },
			func(t *testing.T, p string) { must(t, os.WriteFile(p, []byte("old"), 0o600)) }, nil},
		{"rename of nothing", func(p string) error { return Rename("op-label", p+".no", p) },
			func(t *testing.T, p string) { must(t, os.WriteFile(p, []byte("old"), 0o600)) }, fs.ErrNotExist},
		{"directory gone", func(p string) error { return Write("op-label", p+"/file", []byte("new")) },
			func(*testing.T, string) {}, fs.ErrNotExist},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "file")
			c.spoil(t, path)
			before := snapshot(t, dir)
			err := c.call(path)
			if err == nil || !strings.Contains(err.Error(), "op-label") || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v", err)
			}
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("error %v is not %v", err, c.is)
			}
			if after := snapshot(t, dir); after != before {
				t.Errorf("before:\n%s\nafter:\n%s", before, after)
			}
		})
	}
}

func TestWriteDoesNotFollowALink(t *testing.T) {
	dir := t.TempDir()
	other, path := filepath.Join(dir, "other"), filepath.Join(dir, "file")
	must(t, os.WriteFile(other, []byte("another's"), 0o600))
	must(t, os.Symlink(other, path))
	must(t, Write("test", path, []byte("new")))
	if data, _ := os.ReadFile(other); string(data) != "another's" {
		t.Errorf("written through the link: %q", data)
	}
}

func TestReadRefusesWhatIsNotOurs(t *testing.T) {
	for _, c := range []struct {
		name, says string
		make       func(t *testing.T, path string)
	}{
		{"link", "it is a link", func(t *testing.T, p string) {
			must(t, os.WriteFile(p+".target", nil, 0o600))
			must(t, os.Symlink(p+".target", p))
		}},
		{"directory", "not a regular file", func(t *testing.T, p string) { must(t, os.Mkdir(p, 0o700)) }},
		{"pipe without a writer", "not a regular file", func(t *testing.T, p string) { must(t, syscall.Mkfifo(p, 0o600)) }},
		{"writable by the group", "others may write it (mode 0620)", func(t *testing.T, p string) {
			must(t, os.WriteFile(p, nil, 0o600))
			must(t, os.Chmod(p, 0o620))
		}},
		{"larger than evidence is", "too large", func(t *testing.T, p string) {
			must(t, os.WriteFile(p, nil, 0o600))
			must(t, os.Truncate(p, MaxSize+1))
		}},
		{"somebody else's", "it belongs to uid 12345", func(t *testing.T, p string) {
			must(t, os.WriteFile(p, nil, 0o600))
			if os.Geteuid() != 0 {
				t.Skip("only root can give a file away")
			}
			must(t, os.Chown(p, 12345, 12345))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			c.make(t, path)
			_, err := Read(path)
			if !errors.Is(err, ErrUnsafe) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v, want %q", err, c.says)
			}
		})
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrUnsafe) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestDecodeTellsWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ name, data, says string }{
		{"empty", "", "not valid JSON"},
		{"zeros", "\x00\x00\x00\x00", "not valid JSON"},
		{"torn", `{"schema_version": 1, "a": "b`, "not valid JSON"},
		{"two documents", `{"schema_version": 1}{"schema_version": 1}`, "not valid JSON"},
		{"null", "null", "no schema_version"},
		{"array", "[1]", "not valid JSON"},
		{"no schema", `{"a": "b"}`, "no schema_version"},
		{"schema 0", `{"schema_version": 0}`, "no schema_version"},
		{"schema of another type", `{"schema_version": "1"}`, "not valid JSON"},
		{"newer", `{"schema_version": 3}`, "it has schema_version 3, and this berth knows up to 2"},
		{"newer, with fields that mean something else now", `{"schema_version": 3, "a": []}`, "schema_version 3"},
		{"field of another type", `{"schema_version": 1, "a": 5}`, "cannot read /the/path"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := struct{ A string }{"as before"}
			err := Decode("/the/path", []byte(c.data), 2, &v)
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "/the/path") {
				t.Fatalf("error %v, want %q", err, c.says)
			}
			var newer *NewerError
			if got := errors.As(err, &newer); got != strings.HasPrefix(c.name, "newer") {
				t.Errorf("NewerError: %v", got)
			}
		})
	}
}

// Of many who make or move one file, one succeeds.
func TestOneOfManyWins(t *testing.T) {
	for _, c := range []struct {
		name string
		act  func(path string) error
		lost error
	}{
		{"create", func(p string) error { return Create("test", p, nil) }, fs.ErrExist},
		{"rename", func(p string) error { return Rename("test", p+".from", p) }, fs.ErrNotExist},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			must(t, os.WriteFile(path+".from", nil, 0o600))
			errs := make([]error, 20)
			var all sync.WaitGroup
			for i := range errs {
				all.Go(func() { errs[i] = c.act(path) })
			}
			all.Wait()
			won := 0
			for _, err := range errs {
				if err == nil {
					won++
				} else if !errors.Is(err, c.lost) {
					t.Errorf("error %v", err)
				}
			}
			if won != 1 {
				t.Errorf("%d won", won)
			}
		})
	}
}

// Of two who remove a file, one is told that it did.
func TestRemoveSucceedsOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(path, nil, 0o600))
	must(t, Remove("op-label", path))
	if err := Remove("op-label", path); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "op-label") {
		t.Errorf("the second time: %v", err)
	}
}

// What Decode takes is JSON by the standard library's word, with a schema that this
// berth knows; what it calls newer is newer.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"schema_version": 1, "a": "b"}`, `{"schema_version": 2}`, `{"schema_version": 1e0}`, `{"schema_version":null}`, `{"SCHEMA_VERSION":1}`,
		"", "null", "[]", "\x00", `{"schema_version": 1, "a": "\ud800"}`, `{"schema_version": 1, "schema_version": 9}`,
	} {
		f.Add([]byte(s))
	}
	goldens, err := filepath.Glob("../../testdata/formats/*.json")
	if err != nil || len(goldens) == 0 {
		f.Fatalf("goldens: %v, %v", goldens, err)
	}
	for _, g := range goldens {
		data, err := os.ReadFile(g)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var v struct {
			SchemaVersion json.Number `json:"schema_version"`
		}
		err := Decode("path", data, 1, &v)
		var newer *NewerError
		switch {
		case errors.As(err, &newer):
			if newer.Have <= 1 {
				t.Fatalf("%q: %v", data, err)
			}
		case err == nil:
			if !json.Valid(data) || v.SchemaVersion != "1" {
				t.Fatalf("taken: %q, schema %s", data, v.SchemaVersion)
			}
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// files are the names of everything under dir but directories.
func files(t *testing.T, dir string) (out []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			out = append(out, p)
		}
		return err
	}))
	return out
}

// snapshot is what is under dir, contents included.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	for _, p := range files(t, dir) {
		data, _ := os.ReadFile(p)
		b.WriteString(p + "\t" + string(data) + "\n")
	}
	return b.String()
}
