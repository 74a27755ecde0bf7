package home

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"berth/internal/atomicfile"
	"berth/internal/session"
)

func TestPath(t *testing.T) {
	for _, c := range []struct {
		name string
		env  map[string]string
		want string
		says string
	}{
		{"BERTH_HOME first", map[string]string{"BERTH_HOME": "/b", "XDG_STATE_HOME": "/x", "HOME": "/h"}, "/b", ""},
		{"then the state directory", map[string]string{"XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/berth", ""},
		{"then the home directory", map[string]string{"HOME": "/h"}, "/h/.local/state/berth", ""},
		{"none", nil, "", "neither BERTH_HOME nor HOME"},
		{"relative", map[string]string{"BERTH_HOME": "b"}, "", "not an absolute path"},
		{"relative state directory", map[string]string{"XDG_STATE_HOME": "x", "HOME": "/h"}, "", "XDG_STATE_HOME=x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Path(func(n string) string { return c.env[n] })
			if got != c.want {
				t.Errorf("got %q", got)
			}
			if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || session.ClassOf(err) != session.Usage || session.HintOf(err) == "") {
				t.Errorf("error %v, want %q", err, c.says)
			}
		})
	}
}

func TestOpenMakesAPrivateHome(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0)) // whatever the umask
	dir := filepath.Join(shortDir(t), "a", "b", "home")
	h, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{h.Dir, h.Locks(), filepath.Join(h.Dir, "runs"), h.Sockets} {
		if st, err := os.Lstat(d); err != nil || !st.IsDir() || st.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", d, st, err)
		}
	}
	if st, err := os.Lstat(filepath.Join(h.Dir, "home.json")); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("home.json: %v, %v", st, err)
	}
	again, err := Open(dir)
	if err != nil || *again != *h {
		t.Errorf("opened again: %+v, %v; was %+v", again, err, h)
	}
}

func TestManyFirstUsersMakeOneHome(t *testing.T) {
	dir := filepath.Join(shortDir(t), "home")
	homes := make([]*Home, 16)
	var all sync.WaitGroup
	for i := range homes {
		all.Go(func() {
			h, err := Open(dir)
			if err != nil {
				t.Error(err)
				return
			}
			homes[i] = h
		})
	}
	all.Wait()
	for _, h := range homes {
		if h == nil || *h != *homes[0] {
			t.Errorf("%+v and %+v", h, homes[0])
		}
	}
}

func TestSocketsFitTheKernel(t *testing.T) {
	long := filepath.Join(shortDir(t), strings.Repeat("d", 90), "home")
	h, err := Open(long)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(h.Sockets) })
	if n := len(h.RunSocket(session.NewID())); n > maxSocketPath || !strings.HasPrefix(h.Sockets, "/tmp/berth-") {
		t.Errorf("%s: %d bytes", h.Sockets, n)
	}
	if st, err := os.Lstat(h.Sockets); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", st, err)
	}
	if again, err := Open(long); err != nil || again.Sockets != h.Sockets {
		t.Errorf("found again: %+v, %v", again, err)
	}
}

// spoil is a way in which a directory is not private.
type spoil struct {
	name, says string
	do         func(t *testing.T, dir string)
}

var spoils = []spoil{
	{"link", "it is a link", func(t *testing.T, dir string) {
		must(t, os.Rename(dir, dir+".real"))
		must(t, os.Symlink(dir+".real", dir))
	}},
	{"file", "it is not a directory", func(t *testing.T, dir string) {
		must(t, os.RemoveAll(dir))
		must(t, os.WriteFile(dir, nil, 0o600))
	}},
	{"group-writable", "mode 0770", func(t *testing.T, dir string) { must(t, os.Chmod(dir, 0o770)) }},
	{"readable by all", "mode 0755", func(t *testing.T, dir string) { must(t, os.Chmod(dir, 0o755)) }},
	{"somebody else's", "belongs to uid 12345", func(t *testing.T, dir string) {
		if os.Geteuid() != 0 {
			t.Skip("only root can give a directory away")
		}
		must(t, os.Chown(dir, 12345, 12345))
	}},
}

// Whatever is not private is refused, with the command that mends it; after that
// command the home opens.
func TestOpenRefusesWhatIsNotPrivate(t *testing.T) {
	for _, which := range []string{"", "runs", "locks", "sock"} {
		for _, s := range spoils {
			t.Run("home/"+which+" "+s.name, func(t *testing.T) {
				h := opened(t)
				dir := filepath.Join(h.Dir, which)
				s.do(t, dir)
				_, err := Open(h.Dir)
				mends(t, err, dir, s, func() error {
					_, err := Open(h.Dir)
					return err
				})
			})
		}
	}
}

// What is no home is not to be changed by what a refusal hints.
func TestOpenHintsNoHarm(t *testing.T) {
	for _, s := range spoils[1:] {
		t.Run(s.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "etc")
			must(t, os.Mkdir(dir, 0o700))
			s.do(t, dir)
			if _, err := Open(dir); session.ClassOf(err) != session.Refused || session.HintOf(err) != "name a directory of berth's own: export BERTH_HOME=DIR" {
				t.Errorf("%v, try: %s", err, session.HintOf(err))
			}
		})
	}
}

func TestCheckRunRefusesWhatIsNotPrivate(t *testing.T) {
	const run = "0m4zr8t1c9ab77xq"
	h := opened(t)
	if err := h.CheckRun(run); err != nil {
		t.Errorf("a run that is not there: %v", err)
	}
	for _, of := range []func(string) string{filepath.Clean, filepath.Dir} {
		for _, s := range spoils {
			t.Run(s.name, func(t *testing.T) {
				h := opened(t)
				must(t, os.MkdirAll(h.Run(run), 0o700))
				if err := h.CheckRun(run); err != nil {
					t.Fatal(err)
				}
				dir := of(h.Run(run))
				s.do(t, dir)
				mends(t, h.CheckRun(run), dir, s, func() error { return h.CheckRun(run) })
			})
		}
	}
}

// mends checks the refusal of dir, runs what it hints, and tries again.
func mends(t *testing.T, err error, dir string, s spoil, again func() error) {
	t.Helper()
	if err == nil || session.ClassOf(err) != session.Refused || !strings.Contains(err.Error(), s.says) || !strings.Contains(err.Error(), dir) {
		t.Fatalf("error %v, want %q", err, s.says)
	}
	hint := session.HintOf(err)
	if to, ok := strings.CutPrefix(hint, "name the directory itself: export BERTH_HOME="); ok {
		if _, err := Open(strings.Trim(to, `"`)); err != nil {
			t.Errorf("after the hint %s: %v", hint, err)
		}
		return
	}
	if s.name == "file" && strings.HasPrefix(hint, "name a directory of berth's own: ") {
		return // it might be anything
	}
	_, command, ok := strings.Cut(hint, ": ")
	if !ok {
		command = hint
	}
	command = strings.TrimPrefix(command, "sudo ")
	if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	if err := again(); err != nil {
		t.Errorf("after %s: %v", command, err)
	}
}

func TestOpenRefusesAHomeItCannotRead(t *testing.T) {
	for _, c := range []struct{ name, data string }{
		{"empty", ""}, {"torn", `{"schema_version": 1, "id"`}, {"newer", `{"schema_version": 2, "id": "x"}`},
		{"without an id", `{"schema_version": 1, "sockets": "/tmp"}`}, {"without sockets", `{"schema_version": 1, "id": "x"}`},
		{"relative sockets", `{"schema_version": 1, "id": "x", "sockets": "sock"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := opened(t)
			path := filepath.Join(h.Dir, "home.json")
			must(t, os.WriteFile(path, []byte(c.data), 0o600))
			_, err := Open(h.Dir)
			if err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v", err)
			}
			if errors.As(err, new(*atomicfile.NewerError)) != (c.name == "newer") {
				t.Errorf("error %v", err)
			}
			if data, _ := os.ReadFile(path); string(data) != c.data {
				t.Errorf("replaced: %q", data)
			}
		})
	}
}

// opened is a home whose sockets are inside it.
func opened(t *testing.T) *Home {
	t.Helper()
	h, err := Open(filepath.Join(shortDir(t), "home"))
	must(t, err)
	return h
}

func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "bh-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
