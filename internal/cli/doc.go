// Package cli is berth's command line: a tree of verbs, one file each, and the
// frame around them that reads arguments, prints, and turns an error into an
// exit status.
//
// A command line goes one way. [Main] first asks plain whether the first word
// is one of berth's own processes, which start fast and look after signals
// themselves. Every other line is taken apart by scan, put in the order that
// urfave/cli can read, and run by the verb it names; what comes back goes
// through Env.finish, the only place that prints an error or picks a status.
//
// Invariants: stdout carries data and nothing else; with --json it carries
// exactly one document, also when the command fails; nothing here exits the
// process; no text from a session reaches a terminal with its control
// characters.
//
// The package holds no rule about sessions. Those are control's and session's.
package cli
