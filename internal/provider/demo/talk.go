package demo

import (
	"fmt"
	"strings"

	"berth/manifest"
)

// trust is what --dialog asks before the agent is ready.
const trust = "Do you trust the files in this folder?\n\n  y      Yes, go on\n  enter  No, exit"

// longShown is how much of one message the screen shows, in bytes.
const longShown = 8 << 10

// welcome is what happens before the first key.
func (a *chat) welcome() {
	if a.dialog {
		a.say(fromAgent, trust)
		return
	}
	a.ready()
}

// ready says that it takes input from now on, and does what the flags ask for first.
func (a *chat) ready() {
	if len(a.view.entries) == 0 {
		a.tell("This is berth's demo agent. Say something, or say help.")
	}
	if a.raw != nil {
		a.tell("echo-raw: all input goes to %s", a.raw.Name())
	}
	if a.opts.children {
		a.tell("%s", startChildren(a.tty.out))
	}
	a.show()
	a.ann.say(manifest.Announcement{
		NativeID: a.history.id, HistoryPath: a.history.path, Recorded: a.history.begun,
		Ready: true, Turn: manifest.TurnIdle,
	})
	if a.opts.flood > 0 {
		a.announceTurn(manifest.TurnBusy)
		a.begin(&turn{who: fromNote, hidden: true}, flood(a.tty.out, a.opts.flood))
	}
}

// show draws the state of things.
func (a *chat) show() {
	v := &a.view
	switch {
	case a.dialog:
		v.state, v.hint = "blocked", "y goes on, enter exits"
	case a.question != "":
		v.state, v.hint = manifest.TurnWaiting, "y allows, n denies"
	case a.turn != nil && len(a.queue) > 0:
		v.state, v.hint = manifest.TurnBusy, fmt.Sprintf("%d queued · esc interrupts", len(a.queue))
	case a.turn != nil:
		v.state, v.hint = manifest.TurnBusy, "esc interrupts"
	case a.leaving:
		v.state, v.hint = manifest.TurnIdle, "ctrl-c again leaves"
	default:
		v.state, v.hint = manifest.TurnIdle, "enter sends · help · ctrl-d leaves"
	}
	a.tty.draw(v.draw(a.tty.w, a.tty.h))
}

// press takes keys.
func (a *chat) press(events []event) {
	for _, e := range events {
		leaving := a.leaving
		a.leaving = false
		switch {
		case a.over:
			return
		case e.key == keySuspend:
			a.suspend()
		case e.key == keyRedraw:
			a.tty.measure()
		case a.dialog:
			a.decide(e)
		case a.question != "":
			a.choose(e)
		case e.key == keyPageUp:
			a.view.scroll += max(a.tty.h/2, 1)
		case e.key == keyPageDown:
			a.view.scroll = max(a.view.scroll-max(a.tty.h/2, 1), 0)
		case e.key == keyEnter:
			a.submit(string(a.view.input.text))
		case e.key == keyEscape || e.key == keyInterrupt && a.turn != nil:
			if a.turn != nil {
				a.interrupt()
			}
		case e.key == keyInterrupt && len(a.view.input.text) > 0:
			a.view.input.set("")
		case e.key == keyInterrupt && leaving:
			a.quit(0, "")
		case e.key == keyInterrupt:
			a.leaving = true
		case e.key == keyEOF && len(a.view.input.text) == 0:
			a.quit(0, "")
		default:
			a.view.input.edit(e)
		}
	}
}

// decide takes a key in the first dialog.
func (a *chat) decide(e event) {
	switch {
	case strings.EqualFold(e.text, "y"):
		a.dialog = false
		a.view.entries = a.view.entries[:len(a.view.entries)-1]
		a.ready()
	case strings.EqualFold(e.text, "n"), e.key == keyEnter, e.key == keyEscape, e.key == keyInterrupt, e.key == keyEOF:
		a.quit(1, "demo-agent: this folder is not trusted")
	}
}

// choose takes a key while a question waits.
func (a *chat) choose(e event) {
	switch {
	case strings.EqualFold(e.text, "y"):
		a.answered(true)
	case strings.EqualFold(e.text, "n"), e.key == keyEscape, e.key == keyInterrupt:
		a.answered(false)
	}
}

// submit sends what was written: now, or after the turn that is going on.
func (a *chat) submit(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	a.view.scroll = 0
	a.view.input.remember(text)
	if a.turn != nil {
		a.queue = append(a.queue, text)
		return
	}
	a.handle(text)
}

// handle does what a message says: a command, or a word to the bot.
func (a *chat) handle(text string) {
	a.say(fromUser, text)
	a.announceTurn(manifest.TurnBusy)
	if strings.HasPrefix(text, "/") {
		a.command(text)
		if a.turn == nil && a.question == "" && !a.over {
			a.idle()
		}
		return
	}
	a.messages++
	a.entitle(text)
	a.record(fromUser, text)
	a.begin(&turn{who: fromAgent, record: true}, reply(answer(text, a.messages), a.delay))
}

// idle ends a turn: what waits is next, or the user is.
func (a *chat) idle() {
	if len(a.queue) == 0 {
		a.announceTurn(manifest.TurnIdle)
		return
	}
	text := a.queue[0]
	a.queue = a.queue[1:]
	a.handle(text)
}

// record writes a message to the history, and announces the first one.
func (a *chat) record(role, text string) {
	first, err := a.history.add(role, text)
	if err != nil {
		a.tell("cannot record this conversation: %v", err)
	}
	if first {
		a.ann.say(manifest.Announcement{NativeID: a.history.id, HistoryPath: a.history.path, Recorded: true})
	}
}

// say shows what was said.
func (a *chat) say(who, text string) {
	if len(text) > longShown {
		text = fmt.Sprintf("%s… (%d bytes in all)", strings.ToValidUTF8(text[:longShown], ""), len(text))
	}
	a.view.entries = append(a.view.entries, entry{who, text})
}

// tell shows what the program says about itself.
func (a *chat) tell(format string, args ...any) { a.say(fromNote, fmt.Sprintf(format, args...)) }
