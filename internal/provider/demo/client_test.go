package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"berth/manifest"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// TestMain is the agent itself when a test starts this binary as one.
func TestMain(m *testing.M) {
	if os.Getenv("DEMO_TEST_AGENT") != "" {
		os.Exit(Main(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Getenv))
	}
	os.Exit(m.Run())
}

// patience is how long a test waits for what has to come.
const patience = 20 * time.Second

// place is the environment of a test: histories, and a run directory to announce to.
type place struct {
	t         *testing.T
	home, run string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{t: t, home: t.TempDir(), run: t.TempDir()}
	if err := os.Mkdir(filepath.Join(p.run, "inbox"), 0o700); err != nil {
		t.Fatal(err)
	}
	return p
}

// command is the agent with the given command line, which may begin with NAME=value.
func (p *place) command(args ...string) *exec.Cmd {
	env := append(os.Environ(), "DEMO_TEST_AGENT=1", "DEMO_AGENT_HOME="+p.home, "BERTH_RUN_DIR="+p.run,
		"DEMO_AGENT_SPEED=0", "DEMO_AGENT_FLAGS=", "NO_COLOR=1", "TERM=xterm-256color")
	for len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		env, args = append(env, args[0]), args[1:]
	}
	c := exec.Command(os.Args[0], append([]string{"demo-agent"}, args...)...)
	c.Env = env
	return c
}

// announced are the announcements so far, in order.
func (p *place) announced() (out []manifest.Announcement) {
	files, _ := filepath.Glob(filepath.Join(p.run, "inbox", "*.json"))
	for _, f := range files { // Glob sorts
		data, err := os.ReadFile(f)
		if err != nil {
			p.t.Fatal(err)
		}
		var a manifest.Announcement
		if err := json.Unmarshal(data, &a); err != nil {
			p.t.Fatal(err)
		}
		out = append(out, a)
	}
	return out
}

// until waits until an announcement is as ok says.
func (p *place) until(what string, ok func(manifest.Announcement) bool) {
	p.t.Helper()
	eventually(p.t, what, func() bool {
		for _, a := range p.announced() {
			if ok(a) {
				return true
			}
		}
		return false
	})
}

func ready(a manifest.Announcement) bool { return a.Ready }

// history is the conversation id as recorded: "role: text" per message.
func (p *place) history(id string) (out []string) {
	data, err := os.ReadFile(filepath.Join(p.home, id+".jsonl"))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, m := range decode(data) {
		out = append(out, m.Role+": "+m.Text)
	}
	return out
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick, limit := time.NewTicker(3*time.Millisecond), time.After(patience)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("waited %s in vain: %s", patience, what)
		}
	}
}

// client is an agent on a terminal.
type client struct {
	t      *testing.T
	cmd    *exec.Cmd
	tty    *os.File
	cooked *term.State   // of the terminal before the agent took it
	done   chan struct{} // closed when the terminal's output has ended

	mu   sync.Mutex
	out  []byte        // guarded by mu
	more chan struct{} // has a token when out grew; guarded by nothing
	seen int           // how much of out expect has passed over
}

// start runs the agent on a terminal of 80 by 24 cells.
func (p *place) start(args ...string) *client {
	p.t.Helper()
	c := &client{t: p.t, cmd: p.command(args...), done: make(chan struct{}), more: make(chan struct{}, 1)}
	tty, slave, err := pty.Open()
	if err != nil {
		p.t.Fatal(err)
	}
	if c.cooked, err = term.GetState(int(slave.Fd())); err != nil {
		p.t.Fatal(err)
	}
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		p.t.Fatal(err)
	}
	c.tty, c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = tty, slave, slave, slave
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	slave.Close() //nolint:errcheck // the agent has it now
	go func() {
		defer close(c.done)
		b := make([]byte, 32<<10)
		for {
			n, err := tty.Read(b)
			c.mu.Lock()
			c.out = append(c.out, b[:n]...)
			c.mu.Unlock()
			select {
			case c.more <- struct{}{}:
			default: // there is a token already
			}
			if err != nil {
				return
			}
		}
	}()
	p.t.Cleanup(func() {
		c.cmd.Process.Kill() //nolint:errcheck // it may have ended
		tty.Close()          //nolint:errcheck // the test is over
		<-c.done
	})
	return c
}

// chatting is start, waiting until it takes input.
func (p *place) chatting(args ...string) *client {
	p.t.Helper()
	c := p.start(args...)
	c.expect("● idle")
	return c
}

func (c *client) send(format string, args ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.tty, format, args...); err != nil {
		c.t.Fatal(err)
	}
}

// expect waits until text comes out after all that was expected before.
func (c *client) expect(text string) {
	c.t.Helper()
	limit := time.After(patience)
	for {
		c.mu.Lock()
		i := bytes.Index(c.out[c.seen:], []byte(text))
		if i >= 0 {
			c.seen += i + len(text)
		}
		tail := c.out[c.seen:]
		c.mu.Unlock()
		if i >= 0 {
			return
		}
		select {
		case <-c.more:
		case <-limit:
			c.t.Fatalf("waited for %q, got %q", text, tail[max(len(tail)-4000, 0):])
		}
	}
}

// ends waits for the exit status.
func (c *client) ends(status int) {
	c.t.Helper()
	ended := make(chan struct{})
	go func() { defer close(ended); c.cmd.Wait() }() //nolint:errcheck // the state is asked below
	select {
	case <-ended:
	case <-time.After(patience):
		c.t.Fatal("it does not end")
	}
	if got := c.cmd.ProcessState.ExitCode(); got != status {
		c.t.Errorf("exit status %d (%s), want %d", got, c.cmd.ProcessState, status)
	}
}

// output is everything that came out until the terminal's end.
func (c *client) output() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.out)
}

// tear cuts the last line of a file in the middle.
func tear(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()-5); err != nil {
		t.Fatal(err)
	}
}
