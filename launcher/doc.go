// Package launcher turns a spec into processes: a supervisor in a process session
// of its own, a client on a PTY behind a gate, a tmux pane that hosts it. It waits
// for what it started by the evidence they leave, and says what is missing.
//
// Its invariant: no receipt, no client. The gate is a process that already has the
// client's pid, terminal and directory, and becomes the client only when told; if
// whoever should tell it dies, it ends having done nothing.
//
// It decides nothing about sessions and holds no lock of its own.
package launcher
