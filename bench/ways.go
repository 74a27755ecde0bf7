package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/creack/pty"
)

// way is one way for a terminal to reach a client: what the person's terminal sees.
type way struct {
	name string
	ptmx *os.File
	seen chan []byte // what came, for those who wait for a text
}

// ways starts the client in a role once for each way there is, and a terminal at
// each. provider is the role's provider in config.toml.
func (b *bench) ways(role string, more ...string) (all []*way, err error) {
	argv := append([]string{b.client, role, b.stamps.path()}, more...)
	add := func(name string, c *exec.Cmd) error {
		x, err := b.terminal(name, c)
		all = append(all, x)
		return err
	}
	await := func(err error) error { // a client in the background has started
		if err != nil {
			return err
		}
		_, pid, err := b.stamps.next()
		b.onClose(func() error { end(pid); return nil })
		return err
	}

	if err := await(add("bare PTY", exec.Command(argv[0], argv[1:]...))); err != nil {
		return nil, err
	}
	if installed("dtach") {
		socket := filepath.Join(b.dir, role+".dtach")
		if err := await(exec.Command("dtach", append([]string{"-n", socket, "-E"}, argv...)...).Run()); err != nil {
			return nil, err
		}
		if err := add("dtach -a", exec.Command("dtach", "-a", socket, "-E", "-r", "none")); err != nil {
			return nil, err
		}
	}
	if installed("abduco") {
		env := append(os.Environ(), "ABDUCO_SOCKET_DIR="+b.dir)
		start := exec.Command("abduco", append([]string{"-n", role}, argv...)...)
		attach := exec.Command("abduco", "-a", role)
		start.Env, attach.Env = env, env
		if err := errors.Join(await(start.Run()), add("abduco -a", attach)); err != nil {
			return nil, err
		}
	}
	t, err := b.newTmux()
	if err != nil {
		return nil, err
	}
	if err := await(t.run(append([]string{"new-session", "-d", "-s", role}, argv...)...)); err != nil {
		return nil, err
	}
	if err := add("tmux attach", t.command("attach-session", "-t", "="+role)); err != nil {
		return nil, err
	}
	return all, b.berthWays(role, add)
}

// berthWays joins berth in both ways: from a terminal, while the tmux pane mirrors,
// and through tmux, where the pane is the only host.
func (b *bench) berthWays(role string, add func(string, *exec.Cmd) error) error {
	w, err := b.newWorld("/dev/shm")
	if err != nil {
		return err
	}
	for _, hosted := range []bool{false, true} {
		id, err := w.run("new", role)
		if err != nil {
			return err
		}
		if _, _, err := b.stamps.next(); err != nil {
			return err
		}
		name, c := "berth open, mirrored in tmux", w.command("open", id)
		if hosted {
			name, c = "berth in tmux attach", w.command("attach", id)
		}
		if err := add(name, c); err != nil {
			return err
		}
	}
	return nil
}

// terminal runs c in a terminal of its own and drains it until the end.
func (b *bench) terminal(name string, c *exec.Cmd) (*way, error) {
	if c.Env == nil {
		c.Env = os.Environ()
	}
	c.Env = append(c.Env, "TERM=xterm-256color", "TMUX=")
	ptmx, err := pty.StartWithSize(c, &pty.Winsize{Cols: 120, Rows: 40})
	if err != nil {
		return nil, err
	}
	x := &way{name: name, ptmx: ptmx, seen: make(chan []byte, 64)}
	b.onClose(func() error {
		c.Process.Kill() //nolint:errcheck // it may have ended
		c.Wait()         //nolint:errcheck // killed
		return ptmx.Close()
	})
	go func() {
		defer close(x.seen)
		for {
			buf := make([]byte, 64<<10)
			n, err := ptmx.Read(buf)
			if err != nil {
				return
			}
			x.seen <- buf[:n]
		}
	}()
	return x, nil
}

// until types and waits until text comes.
func (x *way) until(typed, text string) error {
	if _, err := x.ptmx.WriteString(typed); err != nil {
		return err
	}
	limit := time.NewTimer(2 * patience)
	defer limit.Stop()
	var last []byte // text may come in two parts
	for {
		select {
		case p, ok := <-x.seen:
			if !ok {
				return fmt.Errorf("%s: its terminal ended", x.name)
			}
			last = append(last, p...)
			if bytes.Contains(last, []byte(text)) {
				return nil
			}
			last = last[max(0, len(last)-len(text)):]
		case <-limit.C:
			return fmt.Errorf("%s: %q never came", x.name, text)
		}
	}
}

// settle drops what came before and waits until nothing more comes.
func (x *way) settle() {
	for {
		select {
		case _, ok := <-x.seen:
			if !ok {
				return
			}
		case <-time.After(300 * time.Millisecond):
			return
		}
	}
}
