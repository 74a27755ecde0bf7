package launcher

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"berth/clients"
	"berth/internal/point"

	"golang.org/x/sys/unix"
)

// Descriptors of a starting supervisor: its spec, and word of a launch that failed.
const (
	supervisorSpecFD   = 3
	supervisorStatusFD = 4
)

// Launch is a supervisor that was started and has not said yet how it went.
type Launch struct {
	Supervisor clients.Identity
	status     *os.File // read end; its end means the launch is over, well or not
}

// StartSupervisor starts a supervisor for s and hands it the spec. When it returns
// nil the supervisor has the whole spec and no longer needs its launcher. env is the
// environment of the command; the supervisor gets only what it needs of it.
func StartSupervisor(s Spec, env []string) (_ *Launch, err error) {
	var files []*os.File
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
			files = append(files, r, w)
		}
		return r, w
	}
	specR, specW := pipe()
	statusR, statusW := pipe()
	defer func() {
		for _, f := range files {
			if f != statusR || err != nil {
				f.Close() //nolint:errcheck // the child has its own; the spec's end was closed with its error
			}
		}
		if err != nil {
			err = fmt.Errorf("cannot start a supervisor for run %s: %w", s.Run, err)
		}
	}()
	if err != nil {
		return nil, err
	}
	bin, err := selfExe()
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(s.Dir().Path("supervisor.log"), os.O_WRONLY|os.O_APPEND|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	files = append(files, log)
	cmd := &exec.Cmd{
		Path: bin, Args: []string{"berth", "supervise"}, Dir: "/", Stderr: log, ExtraFiles: []*os.File{specR, statusW},
		Env: OwnEnv(env, clients.RoleMark+"="+clients.RoleSupervisor,
			clients.HomeMark+"="+s.Home.Dir, clients.RunDirMark+"="+string(s.Dir())),
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	id, err := clients.Of(cmd.Process.Pid)
	go cmd.Wait() //nolint:errcheck // reaps it if it ends before us; evidence tells the rest
	if err != nil {
		return nil, err
	}
	point.Here("launcher.supervisor-started")
	if err := errors.Join(write(specW, s), specW.Close()); err != nil {
		return nil, err
	}
	return &Launch{Supervisor: id, status: statusR}, nil
}

// Await waits until the launch is over: nil when the receipt is on disk and the
// client runs, or ran. Otherwise the error says what the supervisor said; one that
// ended without a word, or was too slow, is an error as well.
func (l *Launch) Await(within time.Duration) error {
	defer l.status.Close() //nolint:errcheck // read only
	if err := l.status.SetReadDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	said, err := io.ReadAll(l.status)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("the supervisor (pid %d) did not report in %v", l.Supervisor.PID, within)
	case err != nil:
		return err
	case len(said) == 0:
		return fmt.Errorf("the supervisor (pid %d) ended while starting", l.Supervisor.PID)
	case string(said) != launched:
		return errors.New(string(said))
	}
	return nil
}

// launched is what a supervisor says when its client runs.
const launched = "launched"

// Birth is the starting supervisor's side of the pipes.
type Birth struct{ status *os.File }

// ReadSpec reads the spec of the supervisor that this process is to be. A launcher
// that went away half-way is an error.
func ReadSpec() (Spec, *Birth, error) {
	unix.CloseOnExec(supervisorSpecFD)
	unix.CloseOnExec(supervisorStatusFD)
	spec := os.NewFile(supervisorSpecFD, "spec")
	defer spec.Close() //nolint:errcheck // read only
	var s Spec
	err := read(spec, &s)
	return s, &Birth{os.NewFile(supervisorStatusFD, "status")}, err
}

// Over tells the launcher, if it is still there, how the launch went; nil: the
// client runs. Only the first call counts.
func (b *Birth) Over(err error) {
	if b.status == nil {
		return
	}
	msg := launched
	if err != nil {
		msg = err.Error()
	}
	io.WriteString(b.status, msg) //nolint:errcheck // the launcher may be gone; evidence is on disk
	b.status.Close()              //nolint:errcheck // see above
	b.status = nil
}
