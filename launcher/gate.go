package launcher

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"berth/clients"
	"berth/internal/point"

	"golang.org/x/sys/unix"
)

// Descriptors of a gate: what to become, and word of whether it could.
const (
	gateSpecFD   = 3
	gateStatusFD = 4
)

// gateStatus is a gate's exit status when it did not become the client.
const gateStatus = 125

// Client is a client's process, first as its gate. The supervisor owns it: it must
// call Open or Abandon once, Wait once, and close PTY when done.
type Client struct {
	PTY     *os.File // our side of its terminal
	Process clients.Identity

	cmd     *exec.Cmd
	command Command
	spec    *os.File // write end: what to become
	status  *os.File // read end: why it could not
}

// StartGate makes the process that will be the client: on a new PTY, in a process
// session of its own, in the command's directory, waiting.
func StartGate(c Command) (_ *Client, err error) {
	cl := &Client{command: c}
	defer func() {
		if err != nil {
			err = fmt.Errorf("cannot start %s in %s: %w", c.Path, c.Cwd, err)
		}
	}()
	ptmx, tty, err := openPTY()
	if err != nil {
		return nil, err
	}
	defer tty.Close() //nolint:errcheck // the child has its own
	specR, specW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, ptmx.Close())
	}
	defer specR.Close() //nolint:errcheck // the child has its own
	statusR, statusW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, ptmx.Close(), specW.Close())
	}
	defer statusW.Close() //nolint:errcheck // the child has its own
	cl.PTY, cl.spec, cl.status = ptmx, specW, statusR
	defer func() {
		if err != nil {
			err = errors.Join(err, ptmx.Close(), specW.Close(), statusR.Close())
		}
	}()
	if err := Resize(ptmx, c.Size); err != nil {
		return nil, err
	}
	bin, err := selfExe()
	if err != nil {
		return nil, err
	}
	cl.cmd = &exec.Cmd{
		Path: bin, Args: []string{"berth", "gate"}, Dir: c.Cwd, Env: append(point.Environ(), "PWD="+c.Cwd),
		Stdin: tty, Stdout: tty, Stderr: tty, ExtraFiles: []*os.File{specR, statusW},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0},
	}
	if err := cl.cmd.Start(); err != nil {
		return nil, err
	}
	cl.Process, err = clients.Of(cl.cmd.Process.Pid)
	if err != nil { // it ended already: nothing was there to hold it
		return nil, errors.Join(err, cl.cmd.Wait())
	}
	return cl, nil
}

// Open lets the gate become the client and returns when it has, or why it could not.
func (c *Client) Open() error {
	werr := write(c.spec, c.command)
	err := errors.Join(werr, c.spec.Close())
	why, rerr := io.ReadAll(c.status)
	c.status.Close() //nolint:errcheck // read to its end
	switch {
	case len(why) > 0:
		return errors.New(string(why))
	case err != nil:
		return fmt.Errorf("cannot tell the gate what to become: %w", err)
	}
	return rerr
}

// Abandon ends a gate that was not opened: it sees its pipe end and leaves.
func (c *Client) Abandon() error {
	return errors.Join(c.spec.Close(), c.status.Close())
}

// Wait waits for the process to end.
func (c *Client) Wait() *os.ProcessState {
	c.cmd.Wait() //nolint:errcheck // the state tells everything
	return c.cmd.ProcessState
}

// Gate is the gate's own life: it waits for its spec and becomes the client. It
// returns only when it does not.
func Gate() int {
	unix.CloseOnExec(gateSpecFD)
	unix.CloseOnExec(gateStatusFD)
	spec, status := os.NewFile(gateSpecFD, "spec"), os.NewFile(gateStatusFD, "status")
	point.Here("gate.spawned")
	var c Command
	if err := read(spec, &c); err != nil {
		return gateStatus // whoever should have told us is gone: nothing was started
	}
	err := become(c)
	fmt.Fprintf(status, "cannot run %s: %v", c.Path, err) //nolint:errcheck // nobody left to tell
	return gateStatus
}

func become(c Command) error {
	if err := inDirectory(c.Cwd); err != nil {
		return err
	}
	unix.Umask(c.Umask)
	defaultSignals()
	if err := defaultLibcSignals(); err != nil {
		return err
	}
	if err := unblockSignals(); err != nil {
		return err
	}
	return unix.Exec(c.Path, c.Argv, c.Env)
}

// inDirectory checks where the process really is: the directory may have been
// replaced between the check by name and the chdir.
func inDirectory(cwd string) error {
	is, err := os.Stat(".")
	if err != nil {
		return fmt.Errorf("cannot see the working directory: %w", err)
	}
	want, err := os.Stat(cwd)
	if err != nil {
		return err
	}
	if !os.SameFile(is, want) {
		return fmt.Errorf("%s was replaced while starting", cwd)
	}
	return nil
}

// defaultSignals undoes ignored signals, which exec would pass on: a caller under
// nohup, and tmux, which ignores TTIN and TTOU. Go leaves an ignored HUP or INT
// ignored until asked for it; a caught signal becomes the default one at exec.
func defaultSignals() {
	signal.Notify(make(chan os.Signal, 1), // never read: the process is about to be another
		unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGPIPE, unix.SIGALRM, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2,
		unix.SIGCHLD, unix.SIGCONT, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGWINCH)
}
