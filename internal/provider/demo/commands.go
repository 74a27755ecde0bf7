package demo

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"berth/internal/provider"
	"berth/manifest"
)

// maxLines is how many lines /lines prints at most.
const maxLines = 100_000

// command does what a message that begins with a slash says. It may leave a turn
// going on, a question open, or the chat over.
func (a *chat) command(text string) {
	name, rest, _ := strings.Cut(strings.TrimPrefix(text, "/"), " ")
	rest = strings.TrimSpace(rest)
	n, bad := strconv.Atoi(rest)
	needsNumber := name == "fail" || name == "lines" || name == "flood"
	switch {
	case needsNumber && (bad != nil || n < 0):
		a.tell("/%s needs a number", name)
	case name == "exit":
		a.quit(0, "")
	case name == "fail":
		a.quit(n, fmt.Sprintf("demo-agent: failing with %d, as asked", n))
	case name == "ask":
		a.ask(rest)
	case name == "busy":
		seconds, err := strconv.ParseFloat(rest, 64)
		if err != nil || seconds < 0 || seconds > 1e6 {
			a.tell("/busy needs a number of seconds")
			return
		}
		a.begin(&turn{who: fromNote}, busy(time.Duration(seconds*float64(time.Second))))
	case name == "lines":
		for i := range min(n, maxLines) {
			a.tell("line %d", i+1)
		}
	case name == "flood":
		a.begin(&turn{who: fromNote, hidden: true}, flood(a.tty.out, megabytes(n)))
	case name == "run" && rest != "":
		a.begin(&turn{who: fromNote}, tool(rest))
	case name == "children":
		a.tell("%s", startChildren(a.tty.out))
	case name == "clear":
		a.clear()
	case name == "help":
		a.tell("%s", help)
	default:
		a.tell("I do not know %s. Say help to see what I can do.", text)
	}
}

// ask waits for a yes or no, as an agent that wants an approval does.
func (a *chat) ask(question string) {
	if question == "" {
		question = "May I go on?"
	}
	a.question = question
	a.say(fromAgent, question+" (y/n)")
	a.ann.say(manifest.Announcement{Turn: manifest.TurnWaiting, WaitingFor: question})
}

// answered ends the wait for a yes or no.
func (a *chat) answered(yes bool) {
	a.question = ""
	if yes {
		a.tell("you said yes")
	} else {
		a.tell("you said no")
	}
	a.idle()
}

// clear begins another conversation in the same process, with another native id.
func (a *chat) clear() {
	a.history = newHistory(provider.NewNativeID(), a.history.cwd, a.opts, a.getenv)
	a.view.entries, a.messages = nil, 0
	a.named()
	a.tell("a new conversation, %s", a.history.id)
	a.ann.say(manifest.Announcement{NativeID: a.history.id, HistoryPath: a.history.path})
}
