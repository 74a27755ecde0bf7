//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// replies are what terminals answer, by what they were asked. A terminal that cannot
// say may leave out those that are marked so.
var replies = []struct {
	query, reply *regexp.Regexp
	maybe        bool
}{
	{regexp.MustCompile(`\x1b\[0?c`), regexp.MustCompile(`\x1b\[\?[\d;]+c`), false},
	{regexp.MustCompile(`\x1b\[>0?q`), regexp.MustCompile(`\x1bP>\|[^\x1b]*\x1b\\`), false},
	{regexp.MustCompile(`\x1b\[\?u`), regexp.MustCompile(`\x1b\[\?\d+u`), false},
	{regexp.MustCompile(`\x1b\[6n`), regexp.MustCompile(`\x1b\[\d+;\d+R`), false},
	{regexp.MustCompile(`\x1b\[5n`), regexp.MustCompile(`\x1b\[0n`), false},
	{regexp.MustCompile(`\x1b\[\?\d+\$p`), regexp.MustCompile(`\x1b\[\?\d+;\d\$y`), false},
	{regexp.MustCompile(`\x1b\]1[01];\?`), regexp.MustCompile(`\x1b\]1[01];rgb:[\da-f/]+(\a|\x1b\\)`), false},
	{regexp.MustCompile(`\x1b\]4;\d+;\?`), regexp.MustCompile(`\x1b\]4;\d+;rgb:[\da-f/]+(\a|\x1b\\)`), true},
	{regexp.MustCompile(`\x1bP\+q[^\x1b]*`), regexp.MustCompile(`\x1bP[01]\+r[^\x1b]*\x1b\\`), true},
	{regexp.MustCompile(`\x1b\[14t`), regexp.MustCompile(`\x1b\[4;\d+;\d+t`), true},
}

// focus tells who asked for it (all of these do) whether somebody looks.
var focus = regexp.MustCompile(`\x1b\[[IO]`)

// What real agents write when they start (recorded through a terminal that answers;
// the versions are those of PROVIDERS.md) asks a terminal many things. Whoever is
// there or comes late, each is answered once, and nothing else is typed into the agent.
func TestOpeningsOfRealAgents(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{"claude", "codex", "gemini", "opencode"} {
		path, err := filepath.Abs(filepath.Join("..", "..", "testdata", "openings", agent))
		if err != nil {
			t.Fatal(err)
		}
		opening, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, who := range []string{"in its pane", "at a terminal", "alone", "alone, and a terminal comes late"} {
			t.Run(agent+" "+who, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				p := w.newProbe("probe", "[close]", `pane = "keep"`, "")
				pane := w.tmuxHost(p.ID)
				if strings.HasPrefix(who, "alone") {
					w.tmuxSays("kill-pane", "-t", *pane.Pane)
					w.eventually("nobody is there", func() bool { return len(w.show(p.ID).Hosts) == 0 })
				}
				comes := func() *tty {
					x := w.open("open", p.ID)
					x.reportsCursor(0)
					w.eventually("held by the terminal", func() bool { return w.heldBy(p.ID) == "terminal" })
					return x
				}
				var x *tty
				if who == "at a terminal" {
					x = comes()
				}
				p.do("play " + path)
				w.eventually("the last query is answered", func() bool { return strings.Contains(p.typed(), statusOK) })
				if strings.HasSuffix(who, "late") {
					x = comes()
					p.do("play /dev/null")
					w.eventually("all is quiet", func() bool { return strings.Count(p.typed(), statusOK) == 2 })
				}
				if x != nil {
					x.typeIn("\x1c")
					x.gets(0, "the agent runs on")
					for _, q := range replies {
						if asked := q.query.FindString(x.all()); asked != "" && asked != askCursor {
							t.Errorf("the terminal was asked %q", asked)
						}
					}
				}
				written, rest := string(opening)+askStatus, focus.ReplaceAllString(p.typed(), "")
				if strings.HasSuffix(who, "late") {
					written += askStatus
				}
				for _, q := range replies {
					asked, answered := len(q.query.FindAllString(written, -1)), len(q.reply.FindAllString(rest, -1))
					if answered != asked && (!q.maybe || answered > asked) {
						t.Errorf("%v: asked %d times, answered %d times", q.query, asked, answered)
					}
					rest = q.reply.ReplaceAllString(rest, "")
				}
				if rest != "" {
					t.Errorf("typed into the agent: %q", rest)
				}
			})
		}
	}
}
