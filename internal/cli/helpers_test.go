package cli

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares got with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got:\n%s\nwant:\n%s", path, got, want)
	}
}

// system is a System without terminals and its two outputs.
func system(words ...string) (sys System, stdout, stderr *bytes.Buffer) {
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	return System{
		Args:   append([]string{"berth"}, words...),
		Getenv: func(string) string { return "" },
		Stdin:  strings.NewReader(""),
		Stdout: stdout,
		Stderr: stderr,
	}, stdout, stderr
}

// berth runs words on the real tree.
func berth(words ...string) (status int, stdout, stderr string) {
	sys, out, errs := system(words...)
	status = Main(context.Background(), sys)
	return status, out.String(), errs.String()
}

// berthWith runs words on a tree of verbs.
func berthWith(verbs []*verb, words ...string) (status int, stdout, stderr string) {
	sys, out, errs := system(words...)
	status = run(context.Background(), sys, tree(verbs), words)
	return status, out.String(), errs.String()
}
