package main

import (
	"flag"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("u", false, "write what the scripts got into their golden files")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"berth": main})
}

// TestScripts runs testdata/script against the real main, each script in a
// home of its own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("BERTH_HOME", env.WorkDir+"/home")
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else every berth of a -race run ends a second late
			return nil
		},
	})
}
