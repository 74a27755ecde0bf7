package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// world is a home of berth with a configuration of its own.
type world struct {
	b    *bench
	dir  string
	home string
	env  []string
}

// The places a home can lie in: without and with a disk's syncs.
func places() []place { return []place{{"tmpfs", "/dev/shm"}, {"disk", os.TempDir()}} }

type place struct{ name, dir string }

// newWorld makes a home under parent. config is added to a config.toml in which the
// providers are the bench's client in its roles; chosen is wait with a native id.
func (b *bench) newWorld(parent string) (*world, error) {
	dir, err := os.MkdirTemp(parent, "bb-")
	if err != nil {
		return nil, err
	}
	w := &world{b: b, dir: dir, home: filepath.Join(dir, "home")}
	w.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8", "TERM=xterm-256color",
		"BERTH_HOME=" + w.home, "XDG_CONFIG_HOME=" + filepath.Join(dir, "config"), "DEMO_AGENT_SPEED=0",
	}
	b.onClose(w.close)
	conf := filepath.Join(dir, "config", "berth")
	if err := os.MkdirAll(conf, 0o700); err != nil {
		return nil, err
	}
	var text strings.Builder
	resumable := func(role string) string {
		return fmt.Sprintf("%q, %q, \"{native_id}\"]\nnative_id = \"chosen\"\nresume = [%q, %[1]q, %[2]q, \"{native_id}\"]", role, b.stamps.path(), b.client)
	}
	for name, start := range map[string]string{
		"still":   resumable("still"),
		"spinner": resumable("spinner"),
		"text":    resumable("text"),
		"none":    `"wait", "` + b.stamps.path() + `"]`,
		"chosen":  resumable("wait"),
		"echo":    `"echo", "` + b.stamps.path() + `"]`,
		"flood":   fmt.Sprintf(`"flood", %q, "%d"]`, b.stamps.path(), b.bulkBytes()),
	} {
		fmt.Fprintf(&text, "[provider.%s]\nstart = [%q, %s\n", name, b.client, start)
	}
	return w, os.WriteFile(filepath.Join(conf, "config.toml"), []byte(text.String()), 0o600)
}

func (w *world) command(args ...string) *exec.Cmd {
	c := exec.Command(w.b.berth, args...)
	c.Dir, c.Env = w.dir, w.env
	return c
}

// run runs berth and returns what it printed.
func (w *world) run(args ...string) (string, error) {
	var out, errs bytes.Buffer
	c := w.command(args...)
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("berth %s: %w: %s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSpace(out.String()), nil
}

// warm starts a session and leaves it: home, registry and tmux server are there then.
func (w *world) warm() error {
	_, err := w.run("new", "none")
	if err == nil {
		_, _, err = w.b.stamps.next()
	}
	return err
}

// close stops what runs in the home, its tmux server included, and removes it.
func (w *world) close() error {
	if _, err := os.Stat(w.home); err != nil {
		return os.RemoveAll(w.dir)
	}
	_, err := w.run("stop", "--all")
	if text, rerr := os.ReadFile(filepath.Join(w.home, "tmux.json")); rerr == nil {
		var rec struct{ Server struct{ PID int } }
		if json.Unmarshal(text, &rec) == nil {
			end(rec.Server.PID)
		}
	}
	return errors.Join(err, os.RemoveAll(w.dir))
}
