package cli

import (
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

func TestHelpPages(t *testing.T) {
	_, short, _ := berth()
	golden(t, "help.golden", short)
	_, page, _ := berth("help", "completion")
	golden(t, "help-completion.golden", page)
	for _, same := range [][]string{{"help"}, {"--help"}, {"-h"}} {
		if status, stdout, stderr := berth(same...); status != 0 || stdout != short || stderr != "" {
			t.Errorf("berth %q is not the short help: %d %q", same, status, stderr)
		}
	}
	if _, stdout, _ := berth("completion", "--help"); stdout != page {
		t.Error("berth completion --help is not berth help completion")
	}
}

func TestHelpTopics(t *testing.T) {
	for _, name := range []string{"exit-codes", "environment", "formats"} {
		status, stdout, _ := berth("help", name)
		if status != 0 || stdout == "" {
			t.Errorf("no help topic %s", name)
		}
		for _, line := range strings.Split(stdout, "\n") {
			if columns(line) > 80 && name != "exit-codes" {
				t.Errorf("%s: wider than a terminal: %q", name, line)
			}
		}
	}
	status, stdout, stderr := berth("help", "exitcodes")
	if want := "berth: there is no help on \"exitcodes\"\n  try: berth help exit-codes\n"; status != 2 || stdout != "" || stderr != want {
		t.Errorf("got %d, %q, %q", status, stdout, stderr)
	}
}

func TestHelpLayout(t *testing.T) {
	root := tree([]*verb{{
		Name:    "stop",
		Aliases: []string{"halt"},
		Args:    "ID…",
		Short:   "Stop sessions",
		Group:   groupStart,
		Text:    true,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "cwd", Usage: "look in `DIR`"},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print IDs"},
			&cli.IntFlag{Name: "limit", Usage: "at most so many"},
			&cli.BoolFlag{Name: "secret", Hidden: true},
		},
		Run: helpVerb().Run,
	}, {Name: "flow", Short: "Flows", Group: groupSteer, Verbs: []*verb{{Name: "show", Short: "Show one"}}}})
	var out strings.Builder
	for _, v := range []*verb{root, root.child("halt"), root.child("flow")} {
		if err := printHelp(&out, v); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "help-layout.golden", out.String())
}
