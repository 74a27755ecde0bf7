package cli

import (
	"context"
	"errors"
	"flag"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"berth/internal/session"
)

// got is what a verb of sample saw.
type got struct {
	JSON       bool
	Title      string
	Limit      int
	Dirs       []string
	Args, Text []string
}

// sample is a verb with every kind of flag, and a group over another.
func sample(seen *got) []*verb {
	probe := func(name string) *verb {
		return &verb{
			Name:  name,
			Text:  true,
			Takes: takes{max: many, what: "anything"},
			Flags: []cli.Flag{
				jsonFlag(),
				&cli.StringFlag{Name: "title", Aliases: []string{"t"}},
				&cli.IntFlag{Name: "limit"},
				&cli.StringSliceFlag{Name: "dir"},
			},
			Run: func(_ context.Context, env *Env, c *cli.Context) error {
				*seen = got{env.JSON, c.String("title"), c.Int("limit"), c.StringSlice("dir"), env.Args, env.Text}
				return nil
			},
		}
	}
	return []*verb{probe("do"), {Name: "group", Verbs: []*verb{probe("do")}}}
}

func TestFlagsAnywhere(t *testing.T) {
	for _, test := range []struct {
		name, line string
		want       got
	}{
		{"flag after the argument", "do ID --json", got{JSON: true, Args: []string{"ID"}}},
		{"flag before the argument", "do --json ID", got{JSON: true, Args: []string{"ID"}}},
		{"value after the argument", "do ID --title x more", got{Title: "x", Args: []string{"ID", "more"}}},
		{"value behind =", "do ID --title=x=y", got{Title: "x=y", Args: []string{"ID"}}},
		{"one dash", "do ID -title x", got{Title: "x", Args: []string{"ID"}}},
		{"short flag", "do ID -t x", got{Title: "x", Args: []string{"ID"}}},
		{"last of two wins", "do --title a ID --title b", got{Title: "b", Args: []string{"ID"}}},
		{"repeated flag", "do a --dir x b --dir y,z", got{Dirs: []string{"x", "y,z"}, Args: []string{"a", "b"}}},
		{"switch takes no word", "do --json false", got{JSON: true, Args: []string{"false"}}},
		{"switch turned off", "do ID --json=false", got{Args: []string{"ID"}}},
		{"value like a flag", "do --title --json ID", got{Title: "--json", Args: []string{"ID"}}},
		{"negative value", "do --limit -5 ID", got{Limit: -5, Args: []string{"ID"}}},
		{"negative argument", "do ID -5 -.5 --json", got{JSON: true, Args: []string{"ID", "-5", "-.5"}}},
		{"lone dash", "do ID - --json", got{JSON: true, Args: []string{"ID", "-"}}},
		{"after the dashes", "do ID --json -- --title x -- y", got{JSON: true, Args: []string{"ID"}, Text: []string{"--title", "x", "--", "y"}}},
		{"nothing after the dashes", "do --", got{Args: []string{}, Text: []string{}}},
		{"a verb's name as an argument", "do do group", got{Args: []string{"do", "group"}}},
		{"an argument named like a set flag", "do --json json", got{JSON: true, Args: []string{"json"}}},
		{"a verb of a group", "group do ID --json", got{JSON: true, Args: []string{"ID"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var seen got
			status, _, stderr := berthWith(sample(&seen), strings.Fields(test.line)...)
			if status != 0 {
				t.Fatalf("status %d: %s", status, stderr)
			}
			if !equal(seen, test.want) {
				t.Errorf("got %+v, want %+v", seen, test.want)
			}
		})
	}
}

// equal compares what was seen; an empty list of arguments or directories is
// none, but no text is not the same as empty text.
func equal(a, b got) bool {
	return a.JSON == b.JSON && a.Title == b.Title && a.Limit == b.Limit && slices.Equal(a.Dirs, b.Dirs) &&
		slices.Equal(a.Args, b.Args) && slices.Equal(a.Text, b.Text) && (a.Text == nil) == (b.Text == nil)
}

func TestFlagErrors(t *testing.T) {
	for line, want := range map[string]string{
		"do --jsno ID":          "berth: do has no flag --jsno; did you mean --json?\n  try: berth do --help\n",
		"do ID --zzzzzz":        "berth: do has no flag --zzzzzz\n  try: berth do --help\n",
		"do -z":                 "berth: do has no flag -z\n  try: berth do --help\n",
		"--zzzzzz do":           "berth: there is no flag --zzzzzz\n  try: berth --help\n",
		"do ID --title":         "berth: do needs a value after --title\n  try: berth do --help\n",
		"do --title -- x":       "berth: do needs a value after --title\n  try: berth do --help\n",
		"do --limit x":          "berth: do: invalid value \"x\" for flag --limit: parse error\n  try: berth do --help\n",
		"group do ID --limit=":  "berth: group do: invalid value \"\" for flag --limit: parse error\n  try: berth group do --help\n",
		"group od --json=false": "berth: group has no command \"od\"\n  try: berth group do\n",
		"grop do":               "berth: there is no command \"grop\"\n  try: berth group\n",
		"qqqqqq --title x":      "berth: there is no command \"qqqqqq\"\n  try: berth --help\n",
		"do -t x --title y":     "berth: do: cannot use two forms of the same flag: t title\n  try: berth do --help\n",
		"do ---title x":         "berth: do has no flag ---title; did you mean --title?\n  try: berth do --help\n",
		"-- do":                 "berth: there is no command \"--\"\n  try: berth --help\n",
	} {
		status, stdout, stderr := berthWith(sample(new(got)), strings.Fields(line)...)
		if status != 2 || stdout != "" || stderr != want {
			t.Errorf("%s: status %d, stdout %q, stderr:\n%s\nwant:\n%s", line, status, stdout, stderr, want)
		}
	}
}

func TestHelpNeverRunsTheVerb(t *testing.T) {
	for _, line := range []string{"do --help", "do ID --help", "--help do ID", "do -h --zzz", "group --help do", "do ID --title x -h"} {
		seen := got{Title: "untouched"}
		status, stdout, stderr := berthWith(sample(&seen), strings.Fields(line)...)
		if status != 0 || stderr != "" || !strings.Contains(stdout, "USAGE") || seen.Title != "untouched" {
			t.Errorf("%s: status %d, stderr %q, ran %v, stdout:\n%s", line, status, stderr, seen.Title != "untouched", stdout)
		}
	}
}

// FuzzOrdered checks what the library makes of an ordered line against the
// standard flag package, which is fed one flag at a time.
func FuzzOrdered(f *testing.F) {
	for _, line := range []string{
		"do ID --json", "do --title x ID -- --json", "do a -t=b -5 - --dir=x --dir y", "group do --limit 3 ID --json=false",
		"do --title", "do --limit x", "group", "", "-- do", "do --- x", "do -= x", "do --json --json -t x --title y", "do -h=0",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, input string) {
		words := strings.Fields(input)
		var seen got
		root := tree(sample(&seen))
		l := scan(root, words)
		if l.err != nil || l.asks("help") || l.asks("version") {
			return
		}
		checkWords(t, words, l)
		if l.verb().Run == nil {
			return
		}
		sys, _, _ := system(words...)
		err := build(root, newEnv(sys, l.asks("json"))).RunContext(context.Background(), l.ordered())
		want, ok := oracle(words)
		if ok != (err == nil) {
			t.Fatalf("%q: error %v, oracle says %v", words, err, ok)
		}
		if ok && !equal(seen, want) {
			t.Fatalf("%q: got %+v, want %+v", words, seen, want)
		}
		if err != nil && session.ClassOf(err) != session.Usage {
			t.Fatalf("%q: not a usage error: %v", words, err)
		}
	})
}

// checkWords: no word is lost, doubled or invented but the program and one
// "--", and what follows the first "--" is where and what it was.
func checkWords(t *testing.T, words []string, l line) {
	before, after := slices.Clone(l.ordered()), append([]string{"berth", "--"}, words...)
	if at := slices.Index(words, "--"); at >= 0 && l.dashes {
		text := words[at:]
		if tail := before[len(before)-len(text):]; !reflect.DeepEqual(tail, text) {
			t.Fatalf("%q: ends in %q", words, tail)
		}
	}
	slices.Sort(before)
	slices.Sort(after)
	if !slices.Equal(before, after) {
		t.Fatalf("%q became %q", words, l.ordered())
	}
}

func oracle(words []string) (want got, ok bool) {
	set := flag.NewFlagSet("", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.BoolVar(&want.JSON, "json", false, "")
	title := set.String("title", "", "")
	t := set.String("t", "", "")
	set.Bool("help", false, "")
	set.Bool("h", false, "")
	set.IntVar(&want.Limit, "limit", 0, "")
	set.Func("dir", "", func(s string) error { want.Dirs = append(want.Dirs, s); return nil })

	if words[0] == "group" {
		words = words[1:]
	}
	words = words[1:]
	if at := slices.Index(words, "--"); at >= 0 {
		want.Text, words = append([]string{}, words[at+1:]...), words[:at]
	}
	for len(words) > 0 {
		w := words[0]
		if w == "-" || w[0] != '-' || strings.ContainsAny(w[1:2], "0123456789.") {
			want.Args, words = append(want.Args, w), words[1:]
			continue
		}
		err := set.Parse(words[:1])
		if err != nil && strings.Contains(err.Error(), "needs an argument") && len(words) > 1 {
			words = words[1:]
			err = set.Parse([]string{w, words[0]})
		}
		if err != nil {
			return got{}, false
		}
		words = words[1:]
	}
	forms := map[string]bool{}
	set.Visit(func(f *flag.Flag) { forms[f.Name] = true })
	want.Title = *title + *t
	return want, !(forms["t"] && forms["title"] || forms["h"] && forms["help"])
}

func TestCountsOfArguments(t *testing.T) {
	verbs := func() []*verb {
		return []*verb{{
			Name:  "stop",
			Takes: takes{min: 1, max: 2, what: "a session ID", find: "berth list"},
			Run:   func(context.Context, *Env, *cli.Context) error { return errors.New("cannot stop it") },
		}}
	}
	for line, want := range map[string]string{
		"stop":         "berth: stop needs a session ID\n  try: berth list\n",
		"stop a b c":   "berth: stop takes a session ID, and got 3 arguments: \"c\" is one too many\n  try: berth stop --help\n",
		"stop a -- -b": "berth: cannot stop it\n",
	} {
		if _, _, stderr := berthWith(verbs(), strings.Fields(line)...); stderr != want {
			t.Errorf("%s: %q, want %q", line, stderr, want)
		}
	}
}
