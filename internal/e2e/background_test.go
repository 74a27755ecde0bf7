//go:build linux

package e2e

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// background is a berth command that was started and not waited for.
type background struct {
	t           *testing.T
	cmd         *exec.Cmd
	out, errOut bytes.Buffer // whole once done is closed
	done        chan struct{}
}

// start starts berth with more environment. It is killed with the test.
func (w *world) start(env []string, args ...string) *background {
	w.t.Helper()
	b := &background{t: w.t, cmd: w.command(context.Background(), env, args...), done: make(chan struct{})}
	b.cmd.Stdout, b.cmd.Stderr = &b.out, &b.errOut
	if err := b.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() {
		b.cmd.Wait()
		close(b.done)
	}()
	w.t.Cleanup(func() {
		b.cmd.Process.Kill()
		<-b.done
	})
	return b
}

// wait waits for the command's end.
func (b *background) wait() result {
	b.t.Helper()
	select {
	case <-b.done:
	case <-time.After(2 * patience):
		b.cmd.Process.Kill()
		<-b.done
		b.t.Fatalf("berth %v did not end\n%s%s", b.cmd.Args[1:], b.out.String(), b.errOut.String())
	}
	return result{b.t, b.cmd.Args[1:], b.out.String(), b.errOut.String(), b.cmd.ProcessState.ExitCode()}
}

// kill ends pid at once. That it is gone already is no error.
func kill(t *testing.T, pid int, sig syscall.Signal) {
	t.Helper()
	if pid <= 1 {
		t.Fatalf("refusing to signal pid %d", pid)
	}
	if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		t.Fatal(err)
	}
}

// waitsForLock reports whether pid is blocked on a lock that somebody else holds.
func waitsForLock(t *testing.T, pid int) bool {
	t.Helper()
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(locks)) {
		f := strings.Fields(line) // 7: -> FLOCK ADVISORY WRITE 4711 00:2d:99 0 EOF
		if len(f) > 5 && f[1] == "->" && f[2] == "FLOCK" && f[5] == strconv.Itoa(pid) {
			return true
		}
	}
	return false
}
