// Package tmux is the tmux binary: exact targets, bounded calls, typed answers.
// It decides nothing about sessions.
//
// Three rules hold everywhere. A target is an id tmux gave (%3, $1) or an exact
// name (=name:), never a prefix. A call ends by its deadline, and an end by
// deadline is "unknown", never "dead". A server is started by one path only, which
// first proves that the recorded one is gone: two servers of one home, each with a
// session of the same id, would be two screens that both believe to be the one.
//
// What is true of tmux itself (docs/tmux.md) was measured on 3.3a; the floor is 3.2.
package tmux
