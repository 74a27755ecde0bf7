//go:build linux

package e2e

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"berth/internal/session"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// The probe is an agent that keeps its terminal raw, logs every byte typed into it,
// and does what a test tells it through a file and SIGUSR1:
//
//	ask          write every query there is
//	cpr          ask for the cursor's position
//	lines N      write N numbered lines, and a last one that says so
//	flood        write numbered lines with colours until it is told to stop
//	modes        set the modes that a terminal must not be left in
//	exit N       end with that status
//
// On SIGWINCH it writes its size in the first line of its screen.

func init() { roles["probe"] = probe }

// queries are what agents ask at their start, and the answers the supervisor gives by
// itself.
var queries = []struct{ ask, answer string }{
	{"\x1b[c", "\x1b[?62;22c"},
	{"\x1b[>c", "\x1b[>41;380;0c"},
	{"\x1b[5n", "\x1b[0n"},
	{"\x1b]10;?\x1b\\", "\x1b]10;rgb:ffff/ffff/ffff\x1b\\"},
	{"\x1b]11;?\a", "\x1b]11;rgb:0000/0000/0000\a"},
	{"\x1b[?2026$p", "\x1b[?2026;2$y"},
	{"\x1b[>q", "\x1bP>|berth("}, // and a version
	{"\x1b[?u", "\x1b[?0u"},
}

const (
	askCursor = "\x1b[6n"
	askStatus = "\x1b[5n" // every terminal answers this, after all that it was asked before
	statusOK  = "\x1b[0n"
)

func probe(args []string) int {
	log, err := os.OpenFile(args[0], os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return 98
	}
	if _, err := term.MakeRaw(0); err != nil {
		return 96
	}
	told := make(chan os.Signal, 16)
	signal.Notify(told, syscall.SIGUSR1)
	sizes := make(chan os.Signal, 1)
	signal.Notify(sizes, syscall.SIGWINCH)
	typed := make(chan []byte)
	go func() {
		for {
			buf := make([]byte, 4096)
			n, err := os.Stdin.Read(buf)
			if err != nil {
				close(typed)
				return
			}
			typed <- buf[:n]
		}
	}()
	fmt.Print("probe ready\r\n")
	fmt.Fprintf(log, "ready %d\n", os.Getpid())
	for {
		select {
		case p, ok := <-typed:
			if !ok {
				return 0
			}
			fmt.Fprintf(log, "read %q\n", p)
		case <-sizes:
			w, h, _ := term.GetSize(0)
			fmt.Printf("\x1b7\x1b[1;1H\x1b[2Ksize %dx%d\x1b8", w, h)
		case <-told:
			b, _ := os.ReadFile(args[0] + ".do")
			verb, rest, _ := strings.Cut(string(b), " ")
			n, _ := strconv.Atoi(rest)
			switch verb {
			case "ask":
				for _, q := range queries {
					fmt.Print(q.ask)
				}
				fmt.Print(askCursor)
			case "cpr":
				fmt.Print(askCursor)
			case "lines":
				out := bufio.NewWriterSize(os.Stdout, 64<<10)
				for i := 1; i <= n; i++ {
					fmt.Fprintf(out, "line %07d %060d\r\n", i, i)
				}
				fmt.Fprintf(out, "that was %d\r\n", n)
				out.Flush()
			case "flood":
				out := bufio.NewWriterSize(os.Stdout, 64<<10)
				for len(told) == 0 {
					n++
					probeLine(out, n)
				}
				fmt.Fprintf(out, "that was %d\r\n", n)
				out.Flush()
			case "play":
				recorded, _ := os.ReadFile(rest)
				os.Stdout.Write(append(recorded, askStatus...))
			case "modes":
				fmt.Print("\x1b[?1049h\x1b[?1003h\x1b[?1006h\x1b[?2004h\x1b[?1004h\x1b[?1h\x1b=\x1b[?25l\x1b[>1u\x1b[31mmodes set")
			case "exit":
				return n
			}
			fmt.Fprintf(log, "done %s\n", b)
		}
	}
}

// probeLine writes the nth line of a flood, with sequences in it that a cut would hurt.
func probeLine(out io.Writer, n int) {
	fmt.Fprintf(out, "\x1b[38;5;%dmline %07d\x1b[0m %060d\r\n", n%256, n, n)
}

// probed is a session with a probe in it.
type probed struct {
	session.Record
	w   *world
	log string
}

// newProbe starts a probe in a session of its own, with these lines of configuration
// beside its provider's.
func (w *world) newProbe(name string, more ...string) probed {
	w.t.Helper()
	log := filepath.Join(filepath.Dir(w.home), name+".log")
	var quoted []string
	for _, a := range roleArgv("probe", log) {
		quoted = append(quoted, fmt.Sprintf("%q", a))
	}
	w.config(fmt.Sprintf("[provider.probe]\nstart = [%s]\nnative_id = \"none\"\nready = \"output:probe ready\"\n%s", strings.Join(quoted, ", "), strings.Join(more, "\n")))
	p := probed{w.run("new", "probe", "--json").want(0).record(), w, log}
	w.eventually("the probe is ready", func() bool { return len(p.said("ready")) == 1 })
	return p
}

// said are the probe's whole log lines of one kind, without that word.
func (p probed) said(kind string) (out []string) {
	b, _ := os.ReadFile(p.log)
	for line := range strings.Lines(string(b)) {
		line, whole := strings.CutSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, kind+" "); ok && whole {
			out = append(out, rest)
		}
	}
	return out
}

// typed is all that was ever typed into the probe.
func (p probed) typed() string {
	p.w.t.Helper()
	var b strings.Builder
	for _, q := range p.said("read") {
		s, err := strconv.Unquote(q)
		if err != nil {
			p.w.t.Fatal(err)
		}
		b.WriteString(s)
	}
	return b.String()
}

// tell has the probe begin to do something; do waits until it has.
func (p probed) tell(what string) {
	p.w.t.Helper()
	if err := os.WriteFile(p.log+".do", []byte(what), 0o600); err != nil {
		p.w.t.Fatal(err)
	}
	if err := syscall.Kill(p.Client.PID, syscall.SIGUSR1); err != nil {
		p.w.t.Fatal(err)
	}
}

func (p probed) do(what string) {
	p.w.t.Helper()
	before := len(p.said("done"))
	p.tell(what)
	p.w.eventually("the probe did "+what, func() bool { return len(p.said("done")) == before+1 })
}

// heldBy is who holds the session: "terminal", "tmux" or "".
func (w *world) heldBy(id string) string {
	w.t.Helper()
	if h := w.show(id).HeldBy; h != nil {
		return *h
	}
	return ""
}

// agentSize is the size of the terminal of an agent's process.
func agentSize(pid int) string {
	f, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/0", pid), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	ws, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%dx%d", ws.Col, ws.Row)
}

// tmuxHost waits until the pane's host has joined and returns it.
func (w *world) tmuxHost(id string) (h session.Host) {
	w.t.Helper()
	w.eventually("the pane's host has joined", func() bool {
		for _, h = range w.show(id).Hosts {
			if h.Kind == "tmux" {
				return true
			}
		}
		return false
	})
	return h
}

// tmuxSays is what the home's tmux server says to a command; "" when it fails.
func (w *world) tmuxSays(args ...string) string {
	cmd := exec.Command("tmux", append([]string{"-u", "-N", "-S", filepath.Join(w.home, "sock", "tmux")}, args...)...)
	cmd.Env = w.env
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(out), "\n")
}

// paneSize is the size of a tmux pane.
func (w *world) paneSize(pane string) string {
	return w.tmuxSays("display-message", "-p", "-t", pane, "#{pane_width}x#{pane_height}")
}

// The shell is a person's shell in a terminal: it runs a command in the foreground,
// says how it ended and whether the terminal was given back as it was, and then shows
// what is typed at it, up to a '#'.

func init() { roles["shell"] = shell }

func shell(args []string) int {
	before, err := term.GetState(0)
	if err != nil {
		return 96
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = os.Environ()
	cmd.Run() // its status is printed below
	after, err := term.GetState(0)
	if err != nil {
		return 96
	}
	fmt.Printf("\r\nshell: exit=%d termios-same=%v\r\n", cmd.ProcessState.ExitCode(), *before == *after)
	if _, err := term.MakeRaw(0); err != nil {
		return 96
	}
	var typed []byte
	for one := make([]byte, 1); !strings.HasSuffix(string(typed), "#"); {
		if _, err := os.Stdin.Read(one); err != nil {
			return 95
		}
		typed = append(typed, one...)
	}
	fmt.Printf("shell: typed %q.\r\n", typed)
	return 0
}

// openFromShell starts berth in a terminal below a shell.
func (w *world) openFromShell(args ...string) *tty {
	w.t.Helper()
	argv := roleArgv("shell", append([]string{"/usr/bin/env", "-u", "E2E_ROLE", berthBin}, args...)...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = w.cwd, w.env
	return startTTY(w.t, cmd)
}

// resize gives the terminal another size.
func (x *tty) resize(cols, rows int) {
	x.t.Helper()
	raw, err := x.ptmx.SyscallConn()
	if err != nil {
		x.t.Fatal(err)
	}
	size := &unix.Winsize{Col: uint16(cols), Row: uint16(rows)}
	cerr := raw.Control(func(fd uintptr) { err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, size) })
	if err = errors.Join(cerr, err); err != nil {
		x.t.Fatal(err)
	}
	x.cols, x.rows = cols, rows
}

// gets waits until text was written to the terminal, wherever on the screen, after
// the first from bytes.
func (x *tty) gets(from int, text string) {
	x.t.Helper()
	if !within(patience, func() bool { return strings.Contains(x.all()[from:], text) }) {
		x.t.Fatalf("%q was never written; the screen:\n%s", text, x.screen())
	}
}
