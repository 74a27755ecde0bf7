//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// What a person gets wrong is named, and the command that helps does no harm.
func TestHints(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("[provider.once]\nstart = [\"/bin/sh\", \"-c\", \"echo please log in first\"]\n")
	file, shut, gone := filepath.Join(w.cwd, "file"), filepath.Join(w.cwd, "shut"), filepath.Join(w.cwd, "gone")
	must(t, os.WriteFile(file, nil, 0o600))
	must(t, os.Mkdir(shut, 0o700))
	r := w.newDemo("hello")
	for _, c := range []struct {
		args []string
		code int
		says []string
	}{
		{[]string{"new", "demo", "--cwd", file}, 1, []string{"not a directory"}},
		{[]string{"new", "demo", "--cwd", gone}, 1, []string{"no such directory", "mkdir -p"}},
		{[]string{"new", "demo", "--ready-timeout", "-1s"}, 2, []string{"--ready-timeout"}},
		{[]string{"new", "once", "--restart", "always"}, 2, []string{"cannot resume", "berth new once"}},
		{[]string{"new", "once"}, 1, []string{"please log in first", "exited with status 0"}},
		{[]string{"open", r.ID}, 2, []string{"needs a terminal", "berth show " + r.ID}},
		{[]string{"list", "--search", "nobody"}, 0, []string{"no session matches"}},
		{[]string{"complete", r.ID}, 0, nil},
		{[]string{"capture", r.ID}, 4, []string{"was completed", "berth new demo"}},
		{[]string{"list", "--provider", "demo"}, 0, []string{"no session matches"}},
	} {
		w.run(c.args...).want(c.code).says(c.says...)
	}
	for _, home := range []struct {
		path, says string
		make       func(path string) error
	}{
		{"link", "it is a link", func(p string) error { return os.Symlink(w.home, p) }},
		{"file", "not a directory", func(p string) error { return os.WriteFile(p, nil, 0o600) }},
	} {
		path := filepath.Join(filepath.Dir(w.home), home.path)
		must(t, home.make(path))
		w.runWith([]string{"BERTH_HOME=" + path}, nil, "list").want(4).says(home.says, "export BERTH_HOME=")
	}
}
