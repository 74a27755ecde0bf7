//go:build linux

package e2e

import (
	"berth/internal/session"
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// The unguarded agent never looks whether another one drives its conversation, so
// berth has to. It writes its life into a log that all of them share: a start that
// finds an earlier one still alive says "overlap".
//
// It outlives its terminal and ends on TERM. What is typed to it is logged as said.

func init() { roles["unguarded"] = unguarded }

func unguarded(args []string) int {
	log, err := os.OpenFile(args[0], os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return 98
	}
	say := func(format string, a ...any) { fmt.Fprintf(log, format+"\n", a...) } // one write a line
	signal.Ignore(syscall.SIGHUP)
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)

	pid := os.Getpid()
	say("start %d %s %s", pid, startTicks(pid), strings.Join(args[1:], " "))
	for _, f := range agentLog(args[0], "start") { // after our own line: of two, one sees the other
		var other int
		fmt.Sscan(f[0], &other)
		if other != pid && alive(other) && startTicks(other) == f[1] {
			say("overlap %d with %d", pid, other)
		}
	}
	lines := make(chan string)
	go func() {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			lines <- in.Text()
		}
	}()
	fmt.Print("unguarded> ")
	for {
		select {
		case line := <-lines:
			say("said %d %s", pid, line)
			fmt.Printf("heard %s\n", line)
		case <-term:
			say("stop %d %d", pid, time.Now().UnixNano())
			return 0
		}
	}
}

// startTicks is the kernel's start time of pid, "" if there is no such process.
func startTicks(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	return f[19]
}

// agentLog is the lines of one kind, without it, as fields.
func agentLog(path, kind string) (out [][]string) {
	b, _ := os.ReadFile(path) // none before the first agent
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == kind {
			out = append(out, f[1:])
		}
	}
	return out
}

// agentLogPath is where the unguarded agents of this world write.
func (w *world) agentLogPath() string { return filepath.Join(filepath.Dir(w.home), "agent.log") }

// unguardedAgent makes the agent a provider of this world, with these lines of
// configuration beside its commands.
func (w *world) unguardedAgent(more ...string) {
	argv := func(last ...string) string {
		var quoted []string
		for _, a := range roleArgv("unguarded", append([]string{w.agentLogPath()}, last...)...) {
			quoted = append(quoted, fmt.Sprintf("%q", a))
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	w.config(fmt.Sprintf("[provider.unguarded]\nstart = %s\nresume = %s\nnative_id = \"chosen\"\nready = \"output:unguarded> \"\n%s\n",
		argv("new", "{native_id}"), argv("resumed", "{native_id}"), strings.Join(more, "\n")))
}

// newUnguarded starts a session of the unguarded agent, with these variables and flags,
// and returns when the agent has heard the request.
func (w *world) newUnguarded(env []string, flags ...string) session.Record {
	w.t.Helper()
	args := slices.Concat([]string{"new", "unguarded", "--json"}, flags, []string{"--", request})
	r := w.runWith(env, nil, args...).want(0).record()
	w.eventually("the request is heard", func() bool { return w.heard(request) == 1 })
	return r
}

// neverTwo fails the test if two agents ever ran at once, or the request was heard
// more than once.
func (w *world) neverTwo(request string) {
	w.t.Helper()
	if o := agentLog(w.agentLogPath(), "overlap"); len(o) > 0 {
		w.t.Fatalf("two clients at once: %v", o)
	}
	if n := w.heard(request); n > 1 {
		w.t.Fatalf("the opening request was sent %d times", n)
	}
}

// heard is how often the agents were told text.
func (w *world) heard(text string) (n int) {
	for _, f := range agentLog(w.agentLogPath(), "said") {
		if strings.Join(f[1:], " ") == text {
			n++
		}
	}
	return n
}
