// Package protocol is what hosts, commands and supervisors say to each other on a
// supervisor's Unix socket: framing, message types, the hello that both sides
// compare, and the check of who is at the other end. docs/protocol.md describes it.
//
// It keeps no state of a session and takes no decision.
package protocol
