//go:build linux

package e2e

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
)

// A home, a socket directory or a run directory that others can reach, that is
// somebody else's or a link, is refused with the command that mends it; the agent
// runs on, and after that command all is as before.
func TestWhatIsNotPrivateIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, says string
		spoil      func(t *testing.T, dir string)
	}{
		{"group-writable", "others can reach into it (mode 0770)", func(t *testing.T, dir string) { must(t, os.Chmod(dir, 0o770)) }},
		{"link", "it is a link", func(t *testing.T, dir string) {
			must(t, os.Rename(dir, dir+".real"))
			must(t, os.Symlink(dir+".real", dir))
		}},
		{"somebody else's", "it belongs to uid 12345", func(t *testing.T, dir string) {
			if os.Geteuid() != 0 {
				t.Skip("only root can give a directory away")
			}
			must(t, os.Chown(dir, 12345, 12345))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.newDemo("hello")
			for _, d := range []struct {
				name, dir string
				verbs     [][]string
			}{
				{"home", w.home, [][]string{{"list"}, {"new", "demo"}, {"show", r.ID}, {"stop", r.ID}}},
				{"sockets", filepath.Join(w.home, "sock"), [][]string{{"list"}, {"new", "demo"}, {"stop", r.ID}}},
				{"run", w.runDir(r), [][]string{{"show", r.ID}, {"restart", r.ID}, {"stop", r.ID}, {"complete", r.ID}}},
			} {
				t.Run(d.name, func(t *testing.T) {
					w.t = t
					defer func(t *testing.T) { w.t = t }(t)
					c.spoil(t, d.dir)
					mend := ""
					for _, verb := range d.verbs {
						res := w.run(verb...).want(4).says("cannot use "+d.dir, c.says, "try: ")
						_, mend, _ = strings.Cut(res.errOut, "try: ")
					}
					if d.name == "run" { // hides no other
						w.run("list").want(0)
					}
					if !alive(r.Client.PID) {
						t.Fatal("the agent is gone")
					}
					mend = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(mend), "put the directory itself there: "), "sudo ")
					if rest, ok := strings.CutPrefix(mend, "name the directory itself: "); ok {
						cmd := exec.Command("sh", "-c", rest+"; "+berthBin+" show "+r.ID)
						cmd.Env = w.env
						if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), r.ID) {
							t.Errorf("%s: %v, %s", rest, err, out)
						}
						mend = "rm " + d.dir + " && mv " + d.dir + ".real " + d.dir
					}
					if out, err := exec.Command("sh", "-c", mend).CombinedOutput(); err != nil {
						t.Fatalf("%s: %v\n%s", mend, err, out)
					}
					if now := w.show(r.ID); now.Client == nil || now.Client.PID != r.Client.PID || now.State != "active" {
						t.Fatalf("after %s: %+v", mend, now)
					}
				})
			}
			w.t = t
		})
	}
}

// What a newer berth wrote is refused by name and left alone.
func TestNewerSchemasAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newDemo("hello")
	w.run("stop", r.ID).want(0)

	home := filepath.Join(w.home, "home.json")
	old := read(t, home)
	newer := strings.Replace(old, `"schema_version": 1`, `"schema_version": 2`, 1)
	must(t, os.WriteFile(home, []byte(newer), 0o600))
	w.run("list").want(1).says(home, "schema_version 2", "up to 1")
	if read(t, home) != newer {
		t.Error("home.json was changed")
	}
	must(t, os.WriteFile(home, []byte(old), 0o600))

	manifest := filepath.Join(w.runDir(r), "manifest.json")
	old = read(t, manifest)
	must(t, os.WriteFile(manifest, []byte(strings.Replace(old, `"schema_version": 1`, `"schema_version": 7`, 1)), 0o600))
	w.run("restart", r.ID).want(7).says(manifest, "schema_version 7", "up to 1")
	must(t, os.WriteFile(manifest, []byte(old), 0o600))

	db := filepath.Join(w.home, "berth.db")
	setSchema := func(statement string) {
		t.Helper()
		pool, err := sql.Open("sqlite", db)
		must(t, err)
		_, err = pool.Exec(statement)
		must(t, err)
		must(t, pool.Close())
	}
	setSchema("PRAGMA user_version = 1000")
	w.run("list").want(1).says(db, "schema 1000", "try: a newer berth")
	setSchema("PRAGMA user_version = 1")
	w.run("restart", r.ID).want(0)
}

// A mistake in config.toml is told with file and line, whatever the command, and
// nothing is started; what starts nothing works.
func TestConfigurationMistakes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := filepath.Join(filepath.Dir(w.home), "config", "berth", "config.toml")
	for _, c := range []struct{ name, text, says string }{
		{"no TOML", "[provider.x]\nstart = [\"a\"\nnative_id =", ":3: "},
		{"unknown key", "\n[provider.x]\nstart = [\"a\"]\nstrat = 1\n", `:4: unknown key "strat"`},
		{"a line for a shell", "[provider.x]\nstart = \"a b\"\n", ":2: start is a string"},
		{"unknown placeholder", "[provider.x]\nstart = [\"a\", \"{nope}\"]\n", ":2: start, element 2"},
		{"resume of the newest", "[provider.x]\nstart = [\"a\"]\nnative_id = \"announced\"\nresume = [\"a\", \"--last\"]\n", ":4: resume does not say which conversation"},
		{"berth's own variable", "[provider.x]\nstart = [\"a\"]\nidentity = [\"BERTH_HOME\"]\n", ":3: BERTH_HOME is berth's own"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.t = t
			w.config(c.text)
			if res := w.run("new", "demo").want(2).says(path+c.says, "try: "); res.out != "" {
				t.Errorf("printed %q", res.out)
			}
			w.run("list").want(0).says(path+c.says, "nothing can be started until that is mended")
		})
	}
	w.t = t
	if left := marked("BERTH_HOME=" + w.home); len(left) > 0 {
		t.Errorf("started: %v", left)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
