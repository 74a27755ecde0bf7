// Package host joins a terminal to a supervisor: bytes typed go one way, bytes for
// the screen the other, until the client ends, the person detaches, or the terminal
// goes away. It has no policy: it does what the supervisor says, and says why it
// leaves.
//
// Its invariant: the terminal is given back as it was, whatever ends the joining.
package host
