package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"berth/internal/session"
)

// failing is a verb with --json that prints printed and returns err.
func failing(printed string, err error) []*verb {
	return []*verb{{
		Name:  "open",
		Flags: []cli.Flag{jsonFlag()},
		Run: func(_ context.Context, env *Env, _ *cli.Context) error {
			fmt.Fprint(env.Out, printed)
			return err
		},
	}}
}

// TestExitCodes holds the table, the page and the help topic together.
func TestExitCodes(t *testing.T) {
	want := []string{"0 done it is as you asked, also when it already was"}
	for c := session.Failed; c <= session.Unconfirmed; c++ {
		e := exitOf(c)
		if e.class != c {
			t.Errorf("class %d has no row", c)
		}
		want = append(want, fmt.Sprintf("%d %s %s", e.status, e.name, e.meaning))
		if status, _, _ := berthWith(failing("", session.Errorf(c, "cannot")), "open"); status != e.status {
			t.Errorf("class %d exits %d", c, status)
		}
	}
	i := exitInterrupted
	want = append(want, fmt.Sprintf("%d %s %s", i.status, i.name, i.meaning))

	page, err := os.ReadFile("../../docs/exit-codes.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]*regexp.Regexp{
		string(page):        regexp.MustCompile("(?m)^\\| (\\d+) \\| `(\\w+)` \\| (.*) \\|$"),
		topic("exit-codes"): regexp.MustCompile(`(?m)^  (\d+) +(\w+) +(.*)$`),
	}
	for text, row := range rows {
		var got []string
		for _, m := range row.FindAllStringSubmatch(text, -1) {
			got = append(got, strings.Join(m[1:], " "))
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestErrorsForPeople(t *testing.T) {
	refused := session.Errorf(session.Refused, "cannot open 7k2m: held").WithHint("berth open 7k2m --move")
	for _, test := range []struct {
		name   string
		err    error
		status int
		stderr string
	}{
		{"nothing", nil, 0, ""},
		{"no class", errors.New("cannot do it"), 1, "berth: cannot do it\n"},
		{"class left out", &session.Error{Msg: "cannot"}, 1, "berth: cannot\n"},
		{"hint", refused, 4, "berth: cannot open 7k2m: held\n  try: berth open 7k2m --move\n"},
		{"wrapped", fmt.Errorf("cannot go on: %w", refused), 4, "berth: cannot go on: cannot open 7k2m: held\n  try: berth open 7k2m --move\n"},
		{"several", errors.Join(errors.New("cannot stop a"), errors.New("cannot stop b")), 1, "berth: cannot stop a\n  cannot stop b\n"},
		{"hostile", errors.New("cannot open \x1b]0;x\a\u009b2J\r\u202eevil"), 1, "berth: cannot open ]0;x 2J evil\n"},
		{"a client's status", fmt.Errorf("x: %w", ExitStatus{143}), 143, ""},
		{"a client's success", ExitStatus{0}, 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, stdout, stderr := berthWith(failing("", test.err), "open")
			if status != test.status || stdout != "" || stderr != test.stderr {
				t.Errorf("got %d, %q, %q", status, stdout, stderr)
			}
		})
	}
}

func TestErrorsAsJSON(t *testing.T) {
	refused := session.Errorf(session.Refused, "cannot open <7k2m> & \x1b[2J: held").WithHint("berth open 7k2m --move")
	status, stdout, stderr := berthWith(failing("", refused), "open", "--json")
	golden(t, "error.json.golden", stdout)
	if want := "berth: cannot open <7k2m> & [2J: held\n  try: berth open 7k2m --move\n"; status != 4 || stderr != want {
		t.Errorf("got %d, %q", status, stderr)
	}
	if _, stdout, _ := berthWith(failing("{}\n", refused), "open", "--json"); stdout != "{}\n" {
		t.Errorf("a second document: %q", stdout)
	}
	for _, line := range []string{"open --json x", "open x --json", "open --jsn --json", "opne --json", "version --json x", "completion bash --json"} {
		others := slices.DeleteFunc(verbs(), func(v *verb) bool { return v.Name == "open" })
		_, stdout, _ := berthWith(append(failing("", nil), others...), strings.Fields(line)...)
		if !strings.Contains(stdout, `"class": "usage"`) || strings.Count(stdout, `"error"`) != 1 {
			t.Errorf("%s: stdout %q", line, stdout)
		}
	}
	if _, stdout, _ := berthWith(failing("", refused), "open", "--", "--json"); stdout != "" {
		t.Errorf("--json behind -- made a document: %q", stdout)
	}
}

// TestFullDisk: output that did not arrive is a failure.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here: ", err)
	}
	defer full.Close()
	for i, words := range [][]string{{"version"}, {"version", "--json"}, {"help"}, {"help", "formats"}, {"completion", "zsh"}} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			sys, _, stderr := system(words...)
			sys.Stdout = full
			if status := Main(context.Background(), sys); status != 1 || !strings.HasPrefix(stderr.String(), "berth: ") {
				t.Errorf("%v: got %d, %q", words, status, stderr)
			}
		})
	}
}
