// Package e2e holds the tests that run the real berth: its binary, tmux, agents,
// terminals and disks. It has no code of its own. They read /proc, so they run on Linux.
package e2e
