//go:build linux

package e2e

import (
	"strings"
	"testing"
	"time"
)

// cursorAt is a cursor position report as a test's terminal makes it, unlike the blind
// answer in the corner.
const cursorAt = "\x1b[7;7R"

// answers fails the test unless, soon, the probe was asked-and-answered exactly rounds
// times, each query once in each, in the order asked, and nothing else was typed into it. Cursors
// are how it may be told where its cursor is.
func (p probed) answers(rounds int, cursors ...string) {
	p.w.t.Helper()
	rest := ""
	ok := func() bool {
		rest = p.typed()
		for range rounds {
			for _, q := range queries {
				var found bool
				if rest, found = strings.CutPrefix(rest, q.answer); !found {
					return false
				}
				if strings.HasPrefix(q.answer, "\x1bP") { // up to its end: a version
					if _, rest, found = strings.Cut(rest, "\x1b\\"); !found {
						return false
					}
				}
			}
			found := false
			for _, c := range cursors {
				if !found {
					rest, found = strings.CutPrefix(rest, c)
				}
			}
			if !found {
				return false
			}
		}
		return rest == ""
	}
	if !within(patience, ok) {
		p.w.t.Fatalf("after %d rounds of queries the agent got %q; left over is %q", rounds, p.typed(), rest)
	}
}

const blind = "\x1b[1;1R"

// reportsCursor answers every question for the cursor that comes on the terminal, as
// terminals do, after a delay. It returns how often it was asked so far.
func (x *tty) reportsCursor(delay time.Duration) (asked func() int) {
	n := make(chan int, 1)
	n <- 0
	go func() {
		for answered := 0; ; {
			select {
			case <-x.done:
				return
			case <-time.After(time.Millisecond):
			}
			if now := strings.Count(x.all(), askCursor); now > answered {
				answered++
				<-n
				n <- answered
				<-time.After(delay) // a slow terminal, which is what is tested
				x.ptmx.WriteString(cursorAt)
			}
		}
	}()
	return func() int { v := <-n; n <- v; return v }
}

// Each query is answered once, whoever is there: nobody, a pane, a terminal that
// answers, one that does not, one that comes in the middle. No terminal ever gets a
// query but the one for the cursor, and nothing is typed into the agent but answers.
func TestQueriesAreAnsweredOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.newProbe("probe")
	pane := w.tmuxHost(p.ID)
	rounds := 0
	ask := func() {
		p.tell("ask")
		rounds++
	}
	cursors := []string{cursorAt, blind}
	// A pane that somebody may look at: tmux knows where its cursor is.
	ask()
	p.answers(rounds, "\x1b[2;1R")
	cursors = append(cursors, "\x1b[2;1R")

	x := w.open("open", p.ID)
	asked := x.reportsCursor(0)
	w.eventually("held by the terminal", func() bool { return w.heldBy(p.ID) == "terminal" })
	ask()
	p.answers(rounds, cursors...)
	if asked() != 1 {
		t.Errorf("the holder was asked %d times", asked())
	}
	p.do("cpr")
	ask() // the second must not overtake the first
	w.eventually("three answers of the terminal", func() bool { return strings.Count(p.typed(), cursorAt) == 3 })
	x.typeIn("\x1c")
	x.wait()
	x.gets(0, "the agent runs on")
	for _, q := range queries {
		if strings.Contains(x.all(), q.ask) {
			t.Errorf("the terminal was asked %q", q.ask)
		}
	}
	if b := w.run("capture", p.ID, "--ansi").out; strings.Contains(b, "[c") || pane.Pane == nil {
		t.Errorf("in the pane: %q", b)
	}
}

// Answers come in the order of the questions, also when one waits for a slow terminal:
// agents take the answer to a later question for a no to an earlier one.
func TestAnswersKeepTheirOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.newProbe("probe")
	w.tmuxHost(p.ID)
	x := w.open("open", p.ID)
	x.reportsCursor(200 * time.Millisecond)
	w.eventually("held by the terminal", func() bool { return w.heldBy(p.ID) == "terminal" })
	p.do("cpr")
	p.tell("ask")
	w.eventually("both cursor reports", func() bool { return strings.HasSuffix(p.typed(), "R") && strings.Count(p.typed(), "R") == 2 })
	if got := p.typed(); strings.Index(got, "R") > strings.Index(got, queries[0].answer) {
		t.Errorf("a later question was answered first: %q", got)
	}
}

// A host that joins while the agent asks, over and over: each time one answer.
func TestQueriesWhileHostsComeAndGo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.newProbe("probe")
	w.tmuxHost(p.ID)
	for round := range soak(5, 50) {
		before := strings.Count(p.typed(), "R")
		x := w.open("open", p.ID) // and it answers no query
		for range 4 {
			p.do("cpr")
		}
		w.eventually("the host was admitted", func() bool { return w.heldBy(p.ID) == "terminal" })
		p.do("cpr")
		x.typeIn("\x1c")
		p.do("cpr")
		x.wait()
		p.do("cpr")
		w.eventually("seven answers", func() bool { return strings.Count(p.typed(), "R") >= before+7 })
		x = w.open("open", p.ID)
		w.eventually("held by the terminal", func() bool { return w.heldBy(p.ID) == "terminal" })
		x.typeIn("#\x1c")
		x.wait()
		w.eventually("the last key", func() bool { return strings.HasSuffix(p.typed(), "#") })
		if got := strings.Count(p.typed(), "R"); got != before+7 {
			t.Fatalf("round %d: %d answers to 7 queries: %q", round, got-before, p.typed())
		}
	}
}

// A terminal that answers after the supervisor has answered for it: the late answer is
// typed nowhere.
func TestLateAnswerIsNotTyped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.newProbe("probe")
	w.tmuxHost(p.ID)
	x := w.openFromShell("open", p.ID)
	w.eventually("held by the terminal", func() bool { return w.heldBy(p.ID) == "terminal" })
	p.do("cpr")
	x.gets(0, askCursor)
	w.eventually("answered for", func() bool { return p.typed() == blind })
	x.typeIn(cursorAt + "key")
	w.eventually("the key after it", func() bool { return strings.HasSuffix(p.typed(), "key") })
	if got := p.typed(); got != blind+"key" {
		t.Fatalf("the agent got %q", got)
	}

	// And once more, now answered when the person has left.
	from := len(x.all())
	p.do("cpr")
	x.gets(from, askCursor)
	x.typeIn("\x1c")
	x.gets(from, "\x1b[?2026l") // the terminal was given back
	x.typeIn(cursorAt)
	x.waitFor("shell: exit=0 termios-same=true")
	x.typeIn("#")
	x.waitFor(`shell: typed "#".`)
	if got := p.typed(); strings.Contains(got, cursorAt) {
		t.Fatalf("the agent got %q", got)
	}
}
