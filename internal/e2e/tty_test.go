//go:build linux

package e2e

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/screen"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// tty is a command in a terminal of its own.
type tty struct {
	t    *testing.T
	cmd  *exec.Cmd
	ptmx *os.File
	cols int
	rows int

	mu  sync.Mutex // guards out
	out []byte

	done chan struct{} // closed when the command has ended
}

// open starts berth in a terminal of 80 by 24.
func (w *world) open(args ...string) *tty { return w.openWith(nil, args...) }

func (w *world) openWith(env []string, args ...string) *tty {
	w.t.Helper()
	return startTTY(w.t, w.command(context.Background(), env, args...))
}

func startTTY(t *testing.T, cmd *exec.Cmd) *tty {
	t.Helper()
	x := &tty{t: t, cmd: cmd, cols: 80, rows: 24, done: make(chan struct{})}
	cmd.WaitDelay = 0
	ptmx, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	if ptmx, err = interruptible(ptmx); err != nil {
		t.Fatal(err)
	}
	x.ptmx = ptmx
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		buf := make([]byte, 32<<10)
		for {
			n, err := ptmx.Read(buf)
			x.mu.Lock()
			x.out = append(x.out, buf[:n]...)
			x.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() {
		cmd.Wait()
		select {
		case <-drained: // its last words are in
		case <-time.After(time.Second): // somebody else has the terminal, too
		}
		close(x.done)
	}()
	t.Cleanup(func() {
		ptmx.Close()
		cmd.Process.Kill()
		<-x.done
	})
	return x
}

// interruptible is f with its reads ended by Close: pty leaves f blocking, and then
// the descriptor outlives its Close for as long as a read waits.
func interruptible(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), f.Close()
}

// all is everything the command has written to the terminal.
func (x *tty) all() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return string(x.out)
}

// screen is the text on the terminal now.
func (x *tty) screen() string {
	return strings.Join(screen.Text([]byte(x.all()), x.cols, x.rows), "\n")
}

// waitFor waits until text is on the screen.
func (x *tty) waitFor(text string) {
	x.t.Helper()
	if !within(patience, func() bool { return strings.Contains(x.screen(), text) }) {
		x.t.Fatalf("%q never came; the screen:\n%s", text, x.screen())
	}
}

// ended reports whether the command has ended.
func (x *tty) ended() bool {
	select {
	case <-x.done:
		return true
	default:
		return false
	}
}

// typeIn types.
func (x *tty) typeIn(s string) {
	x.t.Helper()
	if _, err := x.ptmx.WriteString(s); err != nil {
		x.t.Fatal(err)
	}
}

// wait waits for the command's end and returns its exit status.
func (x *tty) wait() int {
	x.t.Helper()
	select {
	case <-x.done:
	case <-time.After(patience):
		x.t.Fatalf("%v did not end; the screen:\n%s", x.cmd.Args, x.screen())
	}
	return x.cmd.ProcessState.ExitCode()
}

// hangUp takes the terminal away, as a closed window does.
func (x *tty) hangUp() { x.ptmx.Close() }
