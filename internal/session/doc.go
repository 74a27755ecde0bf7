// Package session holds berth's words and the pure rules over them: ids, kinds,
// states, phases, actions, titles, the record people and scripts read, and the
// errors every layer speaks. It does no I/O and imports nothing of berth, so
// any package may lean on it.
package session
