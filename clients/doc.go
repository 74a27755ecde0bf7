// Package clients knows the processes that drive runs: who a process is, whether
// it is alive, dead or unknown, what its receipt and its end say, which processes
// belong to a run, and how a whole tree of them is ended.
//
// Its invariant: a pid is never enough. A process is (host, boot, pid namespace,
// pid, kernel start time); it is opened as a handle, checked, and only then
// signalled. Unknown is an answer of its own and never authorises a signal.
//
// It does not start processes (launcher) and decides nothing about sessions.
package clients
