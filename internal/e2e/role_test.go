//go:build linux

package e2e

import (
	"fmt"
	"os"
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
