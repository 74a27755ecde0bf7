//go:build linux

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// berth is upgraded while a session runs: the new one reads, captures and stops what
// the old one started, doctor says which version runs, and a restart brings the new.
func TestUpgradeWhileSessionsRun(t *testing.T) {
	t.Parallel()
	newer := filepath.Join(t.TempDir(), "berth")
	build := exec.Command("go", "build", "-tags", "berthtest", "-ldflags", "-X berth/internal/cli.release=99.1", "-o", newer, "berth")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	r := w.newDemo("hello")
	w.tmuxHost(r.ID)
	upgraded := func(args ...string) string {
		t.Helper()
		c := exec.Command(newer, args...)
		c.Env, c.Dir = w.command(t.Context(), nil).Env, w.cwd
		c.Stderr = os.Stderr
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if out := upgraded("list"); !strings.Contains(out, r.ID[:8]) {
		t.Errorf("list:\n%s", out)
	}
	if out := upgraded("capture", r.ID); !strings.Contains(out, "You said: hello") {
		t.Errorf("capture:\n%s", out)
	}
	if out := upgraded("doctor"); !strings.Contains(out, "1 of version") || strings.Contains(out, "version 99.1") || !strings.Contains(out, "berth restart "+r.ID) {
		t.Errorf("doctor:\n%s", out)
	}
	if now := w.show(r.ID); now.Client == nil || now.Client.PID != r.Client.PID {
		t.Fatalf("the client is another: %+v", now.Client)
	}
	upgraded("restart", r.ID)
	if out := upgraded("doctor"); !strings.Contains(out, "1 of version 99.1") {
		t.Errorf("doctor after the restart:\n%s", out)
	}
	if now := w.show(r.ID); *now.NativeID != *r.NativeID {
		t.Errorf("native id %s, was %s", *now.NativeID, *r.NativeID)
	}
	upgraded("stop", r.ID)
}
