package clients

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// BecomeSubreaper makes this process the parent of every orphan below it, for as
// long as it lives. Children do not inherit that.
func BecomeSubreaper() error {
	return os.NewSyscallError("prctl", unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
}

// ReapAdopted reaps the ended children that were adopted, and returns how many. It
// never blocks; call it on SIGCHLD.
//
// Waiting for any child (wait4 of -1) would also take the status of a child that
// os/exec waits for, and its Wait would fail. So children are looked at one by
// one, and left to os/exec are those own names and those of our own session, which
// an orphan of a client is never in: that covers every command run without
// Setsid, and the runtime's own probe. For a child started with Setsid own must
// answer true from before it can end: hold one lock over cmd.Start and in own.
func ReapAdopted(own func(pid int) bool) (int, error) {
	children, err := children()
	if err != nil {
		return 0, err
	}
	session, err := unix.Getsid(0)
	if err != nil {
		return 0, os.NewSyscallError("getsid", err)
	}
	n := 0
	for _, pid := range children {
		st, err := stat(pid)
		if err != nil || !st.zombie || st.sid == session || own(pid) {
			continue
		}
		if got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil); err == nil && got == pid {
			n++
		}
	}
	return n, nil
}

// children lists our children. The kernel keeps them by the thread that forked or
// adopted them.
func children() ([]int, error) {
	files, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, file := range files {
		b, err := os.ReadFile(file)
		if gone(err) {
			continue // the thread has ended, and passed its children on
		}
		if err != nil {
			return nil, err
		}
		for f := range bytes.FieldsSeq(b) {
			if pid, err := strconv.Atoi(string(f)); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids, nil
}

// ChildStopped reports whether pid, a child of ours, was stopped by a signal since
// the last call. It leaves the child's end to whoever waits for it.
func ChildStopped(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WNOHANG, nil)
	return err == nil && info.Signo != 0
}
