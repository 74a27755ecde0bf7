// Package screen knows what a byte stream does to a terminal, without drawing
// it: parser state, modes, queries, recent output; and what a terminal's input
// bytes mean: keys, pastes, late replies, the detach key.
//
// Two directions, two types. [Scanner] reads what the client writes: it takes
// the questions a terminal would answer out of the stream, so that no host's
// terminal ever types an answer into an agent, and keeps [Modes], which can be
// put on another terminal ([Modes.Restore]) or taken off one ([Modes.Reset]).
// [Answer] is what the supervisor, being the client's terminal, replies.
// [Input] reads what a host's terminal sends: it finds the detach key and the
// replies that came although nobody here asked.
//
// The invariant of both: no byte is lost, doubled or reordered, wherever the
// stream was cut into reads. What is held back because it might become a query,
// a reply or the detach key is bounded, and can be flushed.
//
// The terminals meant are UTF-8 terminals of the xterm family. The bytes 0x80
// to 0x9f are text there, never C1 controls. ENQ (0x05) is not looked for: the
// bulk path skips from ESC to ESC, and no terminal of the family answers it
// unless told to.
//
// [Text] makes a modest rendering of recent output for evidence after a
// failure. The live picture is tmux's, never this package's.
package screen
