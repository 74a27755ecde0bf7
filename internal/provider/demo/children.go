package demo

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
)

// The roles this binary plays as a child of the agent.
const (
	roleSleeper = "sleeper" // sleeps until it is killed
	roleNohup   = "nohup"   // the same, and ignores HUP
	roleDaemon  = "daemon"  // starts a sleeper in a session of its own, tells its pid and exits
)

// play is a child's life.
func play(ctx context.Context, role string, out *os.File) int {
	switch role {
	case roleNohup:
		signal.Ignore(syscall.SIGHUP)
	case roleSleeper:
	case roleDaemon:
		c, err := child(roleSleeper)
		if err == nil {
			c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			err = c.Start()
		}
		if err != nil {
			return complain(out, 1, "%v", err)
		}
		fmt.Fprintln(out, c.Process.Pid)
		return 0
	default:
		return complain(out, 2, "there is no role %q", role)
	}
	term := make(chan os.Signal, 1) // the first one ends it
	signal.Notify(term, syscall.SIGTERM)
	select {
	case <-term:
	case <-ctx.Done():
	}
	return exitTerminated
}

// child is this binary in a role, with nothing to read and nowhere to write.
func child(role string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return exec.Command(self, "demo-agent", "--role", role), nil
}

// startChildren starts one process of each kind that agents leave behind, and says
// which they are. The plain and the setsid one keep the terminal tty open.
func startChildren(tty *os.File) string {
	var told strings.Builder
	for _, kind := range []struct {
		name, role  string
		setsid, tty bool
	}{
		{"child", roleSleeper, false, true},
		{"setsid child", roleSleeper, true, true},
		{"nohup child", roleNohup, false, false},
	} {
		c, err := child(kind.role)
		if err == nil {
			c.SysProcAttr = &syscall.SysProcAttr{Setsid: kind.setsid}
			if kind.tty {
				c.Stdout, c.Stderr = tty, tty
			}
			err = c.Start()
		}
		if err != nil {
			fmt.Fprintf(&told, "%s: %v\n", kind.name, err)
			continue
		}
		go c.Wait() //nolint:errcheck // reaps it, should it end before the agent does
		fmt.Fprintf(&told, "%s: pid %d\n", kind.name, c.Process.Pid)
	}
	c, err := child(roleDaemon)
	var pid []byte
	if err == nil {
		pid, err = c.Output()
	}
	if err != nil {
		return fmt.Sprintf("%sdouble-forked child: %v", told.String(), err)
	}
	return fmt.Sprintf("%sdouble-forked child: pid %s", told.String(), strings.TrimSpace(string(pid)))
}
