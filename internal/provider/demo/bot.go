package demo

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"unicode/utf8"
)

const help = `I am the demo agent of berth: no model, no key, no network. I remember what you say, so you can leave and take it up again.

/ask QUESTION     wait for your yes or no
/busy SECONDS     be busy so long
/run COMMAND      run a shell command, as an agent's tool
/lines N          print N numbered lines
/flood MB         write so much to the terminal, fast
/children         start processes of every kind
/clear            begin a new conversation in this process
/fail N           end with status N
/exit             end

Keys: enter sends, alt-enter breaks the line, up and down recall, page up and down scroll, esc interrupts, ctrl-d leaves.`

// followUps take turns.
var followUps = []string{
	"What is next?",
	"I have written it down.",
	"Say help to see what else I can do.",
}

// longMessage is from how many characters on a message is described, not repeated.
const longMessage = 200

// answer is what the bot says to the n-th message of a conversation, n from 1. It
// depends on nothing else.
func answer(text string, n int) string {
	switch strings.ToLower(strings.Trim(text, " ?!.\n")) {
	case "help":
		return help
	case "hello", "hi", "hey":
		return "Hello! You said: " + text + "\nThis is message " + fmt.Sprint(n) + " of our conversation."
	}
	chars, lines := utf8.RuneCountInString(text), 1+strings.Count(text, "\n")
	if chars < longMessage && lines == 1 {
		return "You said: " + text + "\n" + followUps[n%len(followUps)]
	}
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("That was long: %d characters in %d lines, sha256 %x…\n%s",
		chars, lines, sum[:4], followUps[n%len(followUps)])
}
