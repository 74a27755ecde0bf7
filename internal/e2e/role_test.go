//go:build linux

package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// roles are what this test binary can be when it is run as another process: agents
// of config.toml, helpers. A file adds its own in an init function.
var roles = map[string]func(args []string) int{}

func play(role string) int {
	f, ok := roles[role]
	if !ok {
		fmt.Fprintln(os.Stderr, "no role", role)
		return 97
	}
	return f(os.Args[1:])
}

// roleArgv is the argv (for config.toml) of this binary in a role: env sets the role.
func roleArgv(role string, args ...string) []string {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return append([]string{"/usr/bin/env", "E2E_ROLE=" + role, self}, args...)
}

// Who is attached to a pane that looks on is told where the keyboard is, and how to get
// it; when it is back, and when the client has ended, nothing is said any more.
func TestMirrorSaysWhoHoldsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.newDemo("hello")
	w.tmuxHost(r.ID)
	a := w.attached(w.show(r.ID))
	a.waitFor("You said: hello")
	x := w.open("open", "--move", r.ID)
	a.waitFor("looks on: the keyboard is at terminal /dev/pts/")
	a.waitFor("(pid " + fmt.Sprint(x.cmd.Process.Pid))
	x.typeIn("\x1c")
	x.wait()
	silent := func() bool { return !strings.Contains(a.screen(), "looks on") }
	w.eventually("nothing is said", silent)
	a.typeIn("typed here\r")
	a.waitFor("You said: typed here")

	x = w.open("open", "--move", r.ID)
	a.waitFor("looks on")
	x.typeIn("/fail 3\r")
	x.wait()
	a.waitFor("failing with 3, as asked")
	w.eventually("nothing is said", silent)
}
