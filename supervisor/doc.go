// Package supervisor is the process that owns one client: its terminal, its life,
// its receipt and its end, the hosts that join it, and what is asked of it.
//
// One goroutine, the loop, owns all state; readers, writers and waiters only bring
// it events (loop.go). The supervisor writes evidence into the run directory and
// nothing else: it never opens the registry and takes no decision about a session.
//
// Its invariant: at most one client lives in a session. It holds the session's life
// lock from before its first client's gate until after its last client's end.
package supervisor
