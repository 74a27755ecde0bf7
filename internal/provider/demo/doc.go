// Package demo is the agent that needs no key and no network: a small full-screen
// chat with a native id, a native history, resume, a signal for idle, busy and
// waiting, and clean ends. berth tries itself out on it, and a person can too.
//
// It behaves as real agents do where they make a supervisor's life hard: the history
// begins with the first message, a second client on one conversation is let in, and
// flags (see flags.go) make it late, silent, deaf to signals or leave children.
//
// Its invariant: the chat never depends on berth. Without a run directory it
// announces nothing, and an announcement that fails changes nothing.
package demo
