//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A config.toml that cannot be read starts nothing, and keeps nobody from looking at
// what runs and stopping it.
func TestBrokenConfiguration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newDemo("hello")
	w.config("[provider.mine\n")
	for _, args := range [][]string{{"list"}, {"show", r.ID}, {"capture", r.ID}, {"events", r.ID}} {
		w.run(args...).want(0).says("config.toml:1", "nothing can be started")
	}
	if out := w.run("doctor").out; !strings.Contains(out, "mend  config.toml") {
		t.Errorf("doctor:\n%s", out)
	}
	w.run("new", "demo", "--", "another").want(2).says("config.toml:1")
	w.run("restart", r.ID).want(2).says("config.toml:1")
	if !alive(r.Client.PID) {
		t.Fatal("the agent was ended for a restart that could not be")
	}
	w.run("stop", r.ID).want(0)
	w.nothingRuns()
}

// A registry that is gone while runs are there was lost, and is never begun anew.
func TestRegistryGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newDemo("hello")
	kept := filepath.Join(filepath.Dir(w.home), "kept")
	if err := os.Mkdir(kept, 0o700); err != nil {
		t.Fatal(err)
	}
	move := func(from, to string) {
		t.Helper()
		for _, name := range []string{"berth.db", "berth.db-wal", "berth.db-shm"} {
			if err := os.Rename(filepath.Join(from, name), filepath.Join(to, name)); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
	}
	move(w.home, kept)
	for _, verb := range []string{"list", "reconcile", "doctor"} {
		w.run(verb).want(1).says("berth.db is gone", fmt.Sprint(r.Supervisor.PID), "put a copy back")
	}
	move(kept, w.home)
	if now := w.show(r.ID); now.Client == nil || now.Client.PID != r.Client.PID {
		t.Fatalf("client %+v, was %+v", now.Client, r.Client)
	}
}

// An agent that opens its own session is refused: it would be its own terminal.
func TestOpenInsideItself(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"open", "move", "open --replace", "serve-conversation"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.shell(`"$BERTH_BIN" ` + how + ` $BERTH_SESSION_ID; echo "status $?"; sleep 1000`)
			r := w.run("new", "it", "--json").want(0).record()
			w.eventually("it is refused", func() bool {
				return strings.Contains(strings.Join(strings.Fields(w.run("capture", r.ID).out), " "), "cannot be opened inside itself")
			})
			w.eventually("with status 4", func() bool { return strings.Contains(w.run("capture", r.ID).out, "status 4") })
			if now := w.show(r.ID); now.HeldBy != nil || now.Client.PID != r.Client.PID {
				t.Errorf("%+v", now)
			}
		})
	}
}
