//go:build linux

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// pids returns the processes whose environment has kv and whose command line holds
// every one of words.
func pids(kv string, words ...string) (out []int) {
	for _, p := range marked(kv) {
		pid, cmd, _ := strings.Cut(p, " ")
		missing := func(word string) bool { return !strings.Contains(cmd, word) }
		if n, err := strconv.Atoi(pid); err == nil && !slices.ContainsFunc(words, missing) {
			out = append(out, n)
		}
	}
	return out
}

// theSupervisor, theHost and theAgent are those processes of the world's only
// session. A gate carries no mark but the armed points.
func (w *world) theSupervisor() int { return w.only("supervisor", w.marks(), "berth supervise") }
func (w *world) theHost() int       { return w.only("host", w.marks(), "serve-conversation") }
func (w *world) theGate(arm string) int {
	return w.only("gate", arm, "berth gate")
}

func (w *world) theAgent() int {
	w.t.Helper()
	return w.only("agent", w.marks(), w.agentLogPath())
}

func (w *world) marks() string { return "BERTH_HOME=" + w.home }

// only waits for one process, and no more, of a kind.
func (w *world) only(what, kv string, words ...string) (pid int) {
	w.t.Helper()
	w.eventually("one "+what, func() bool {
		ps := pids(kv, words...)
		if len(ps) == 1 {
			pid = ps[0]
		}
		return len(ps) == 1
	})
	return pid
}

// killed ends a process by SIGKILL and waits until it is gone.
func (w *world) killed(pid int) {
	w.t.Helper()
	kill(w.t, pid, syscall.SIGKILL)
	w.eventually("the end of "+strconv.Itoa(pid), func() bool { return !alive(pid) })
}

// nothingRuns fails the test unless, soon, no process of the home is left but its
// tmux server, no process with the marks given, no tmux session and no run's socket.
func (w *world) nothingRuns(marks ...string) {
	w.t.Helper()
	var left []string
	gone := func() bool {
		left = nil
		for _, kv := range append(marks, w.marks()) {
			for _, p := range marked(kv) {
				if !strings.HasPrefix(p, strconv.Itoa(w.tmuxServer())+" ") {
					left = append(left, p)
				}
			}
		}
		left = append(left, w.tmuxSessions()...)
		sockets, _ := filepath.Glob(filepath.Join(w.home, "sock", strings.Repeat("?", 16)))
		left = append(left, sockets...)
		return len(left) == 0
	}
	w.soon("left behind", gone, &left)
}

// soon is eventually with something to show for a failure.
func (w *world) soon(what string, cond func() bool, show *[]string) {
	w.t.Helper()
	defer func() {
		if w.t.Failed() {
			w.t.Logf("%s: %s", what, strings.Join(*show, "\n"))
		}
	}()
	w.eventually("nothing "+what, cond)
}

// tmuxServer is the pid of the home's tmux server, 0 if none was started.
func (w *world) tmuxServer() int {
	var rec struct{ Server struct{ PID int } }
	b, err := os.ReadFile(filepath.Join(w.home, "tmux.json"))
	if err != nil || json.Unmarshal(b, &rec) != nil {
		return 0
	}
	return rec.Server.PID
}

// tmuxSessions are the names of the home's tmux sessions.
func (w *world) tmuxSessions() []string {
	out, err := exec.Command("tmux", "-S", filepath.Join(w.home, "sock", "tmux"), "list-sessions", "-F", "#{session_name}").Output()
	if err != nil {
		return nil // no server
	}
	return strings.Fields(string(out))
}
