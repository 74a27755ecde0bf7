package cli

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/urfave/cli/v2"
)

// TestTraps holds the finished tree to what STYLE says of urfave/cli v2.
func TestTraps(t *testing.T) {
	sys, _, _ := system()
	app := build(tree(verbs()), newEnv(sys, false))
	if cli.HelpFlag != nil {
		t.Error("the library's --help is on")
	}
	if app.ExitErrHandler == nil || app.OnUsageError == nil || app.Action == nil {
		t.Error("the app lacks ExitErrHandler, OnUsageError or Action")
	}
	if app.CommandNotFound != nil || app.DefaultCommand != "" || app.EnableBashCompletion || app.UseShortOptionHandling {
		t.Error("the app has CommandNotFound, DefaultCommand, completion or short options of the library")
	}
	if !app.HideHelp || !app.HideVersion || !app.DisableSliceFlagSeparator {
		t.Error("the app shows help, version or splits lists itself")
	}
	checkFlags(t, app.Name, app.Flags)
	var check func([]*cli.Command)
	check = func(commands []*cli.Command) {
		for _, c := range commands {
			if c.OnUsageError == nil || c.Action == nil || !c.HideHelp {
				t.Errorf("%s lacks OnUsageError, Action or HideHelp", c.Name)
			}
			checkFlags(t, c.Name, c.Flags)
			check(c.Subcommands)
		}
	}
	check(app.Commands)
}

// checkFlags: the library answers a missing required flag with a page on
// stdout, and reads the process's environment instead of ours.
func checkFlags(t *testing.T, command string, flags []cli.Flag) {
	for _, f := range flags {
		if r, ok := f.(cli.RequiredFlag); ok && r.IsRequired() {
			t.Errorf("%s: %v is Required: check it in Run", command, f.Names())
		}
		if doc, ok := f.(cli.DocGenerationFlag); !ok || len(doc.GetEnvVars()) > 0 {
			t.Errorf("%s: %v cannot be documented, or reads the environment itself", command, f.Names())
		}
	}
}

// TestHouseStyle holds every verb's help to one form.
func TestHouseStyle(t *testing.T) {
	root := tree(verbs())
	root.walk(func(v *verb) {
		name := v.path()
		if (v.Run == nil) == (v.Verbs == nil) {
			t.Errorf("%s has not exactly one of Run and Verbs", name)
		}
		if v == root || v.Hidden {
			return
		}
		if r := []rune(v.Short); len(r) == 0 || !unicode.IsUpper(r[0]) || strings.HasSuffix(v.Short, ".") || len(r) > 60 {
			t.Errorf("%s: Short %q is not a short upper-case text without a period", name, v.Short)
		}
		if (v.parent == root) != (v.Group != "") {
			t.Errorf("%s: Group %q", name, v.Group)
		}
		if v.Run == nil {
			return
		}
		if len(v.Long) == 0 || strings.Count(wrap(v.Long), "\n") > 12 {
			t.Errorf("%s: Long is empty or a wall of text", name)
		}
		if len(v.Examples) != 2 {
			t.Errorf("%s has %d examples, not 2", name, len(v.Examples))
		}
		for _, example := range v.Examples {
			checkExample(t, root, v, example)
		}
	})
}

var berthInExample = regexp.MustCompile(`berth [^|>()]+`)

// checkExample: an example calls its own verb, with flags there are.
func checkExample(t *testing.T, root, v *verb, example string) {
	called := false
	for _, command := range berthInExample.FindAllString(example, -1) {
		l := scan(root, strings.Fields(command)[1:])
		if l.err != nil {
			t.Errorf("%s: example %q: %v", v.path(), example, l.err)
		}
		called = called || l.verb() == v
	}
	if !called {
		t.Errorf("%s: example %q does not call it", v.path(), example)
	}
}
