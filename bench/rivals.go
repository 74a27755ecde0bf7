package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// rawTmux is a tmux server without berth.
type rawTmux struct{ socket string }

// newTmux starts a server that stays while sessions come and go; the second call
// finds it there.
func (b *bench) newTmux() (rawTmux, error) {
	t := rawTmux{filepath.Join(b.dir, "tmux")}
	if t.run("has-session", "-t", "=stay") == nil {
		return t, nil
	}
	b.onClose(func() error {
		t.run("kill-server") //nolint:errcheck // it may not have been started
		return nil
	})
	return t, t.run("new-session", "-d", "-s", "stay", "sleep", "1000000", ";", "set-option", "-g", "status", "off")
}

func (t rawTmux) command(args ...string) *exec.Cmd {
	return exec.Command("tmux", append([]string{"-S", t.socket, "-f", "/dev/null"}, args...)...)
}

func (t rawTmux) run(args ...string) error {
	if out, err := t.command(args...).CombinedOutput(); err != nil {
		return fmt.Errorf("tmux %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// installed says whether a program can be measured, and on the table if it cannot.
func installed(name string) bool {
	_, err := exec.LookPath(name)
	if err != nil {
		fmt.Printf("  (%s is not installed, so it is not measured)\n", name)
	}
	return err == nil
}
