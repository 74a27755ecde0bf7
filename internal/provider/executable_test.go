package provider

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/session"
)

func TestExecutable(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, mode os.FileMode) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("a/agent", 0o700)
	write("b/agent", 0o700)
	write("b/plain", 0o600)
	write("c/plain", 0o700)
	write("b/only-plain", 0o600)
	if err := os.MkdirAll(filepath.Join(dir, "a/folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	a, b, c := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	for _, tc := range []struct{ name, argv0, path, want, says string }{
		{"the first in PATH", "agent", "/nowhere:" + a + ":" + b, a + "/agent", ""},
		{"what cannot run is passed over", "plain", b + ":" + c, c + "/plain", ""},
		{"an empty entry is the directory", "agent", a + "/agent::", "", "cannot find agent"},
		{"a relative entry", "agent", "b", b + "/agent", ""},
		{"a path relative to the directory", "./a/agent", "", a + "/agent", ""},
		{"a full path", a + "/agent", "", a + "/agent", ""},
		{"an empty PATH is execvp's", "sh", "", "", ""},
		{"not in PATH", "agent2", a + ":" + b, "", "cannot find agent2 in PATH (" + a + ":" + b + ")"},
		{"not executable", "only-plain", a + ":" + b, "", b + "/only-plain: it is not executable"},
		{"a directory in PATH", "folder", a, "", "a/folder: it is a directory"},
		{"a directory", "./a", "", "", "it is a directory"},
		{"no such file", "./nope", "", "", dir + "/nope: there is no such file"},
		{"no name", "", a, "", "without a name"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Executable(tc.argv0, dir, tc.path)
			if tc.argv0 == "sh" {
				if err != nil || !strings.HasSuffix(got, "bin/sh") {
					t.Errorf("got %q, %v", got, err)
				}
				return
			}
			if got != tc.want || (err == nil) != (tc.says == "") {
				t.Fatalf("got %q, %v; want %q, %q", got, err, tc.want, tc.says)
			}
			if err != nil && (!strings.Contains(err.Error(), tc.says) || session.ClassOf(err) != session.Failed) {
				t.Errorf("error %v, want %q", err, tc.says)
			}
		})
	}
	if _, err := Executable("only-plain", dir, b); session.HintOf(err) != "chmod +x "+b+"/only-plain" {
		t.Errorf("hint %q", session.HintOf(err))
	}
}

func TestFingerprint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, []byte("abc"), 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := Fingerprint(path, false)
	if err != nil || p.Size != 3 || p.ModTime.IsZero() || p.SHA256 != "" || p.Path != path {
		t.Errorf("%+v, %v", p, err)
	}
	p, _ = Fingerprint(path, true)
	if p.SHA256 != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("sha256 %s", p.SHA256)
	}
	if p, err := Fingerprint(filepath.Dir(path), true); err != nil || p.SHA256 != Unavailable { // a directory cannot be read, root or not
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := Fingerprint(path+"-", true); err == nil {
		t.Error("a missing file has a fingerprint")
	}
}
