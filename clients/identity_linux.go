package clients

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return unread
	}
	return strings.TrimSpace(string(b))
}

func pidNamespace() string {
	ns, err := os.Readlink("/proc/self/ns/pid")
	if err != nil || procIsOurs() != nil {
		return unread
	}
	return strings.TrimSuffix(strings.TrimPrefix(ns, "pid:["), "]")
}

// procIsOurs is nil when /proc shows the pid namespace we live in. Inside
// `unshare -p` without a fresh mount it shows the outer one, where our numbers
// name strangers.
var procIsOurs = sync.OnceValue(func() error {
	self, err := os.Readlink("/proc/self")
	if err != nil {
		return fmt.Errorf("cannot read /proc: %w", err)
	}
	if self != strconv.Itoa(os.Getpid()) {
		return errors.New("/proc shows another pid namespace than ours (mount a fresh one)")
	}
	return nil
})

// statSize is more than /proc/PID/stat has, in bytes.
const statSize = 1 << 10

// stat reads /proc/PID/stat.
func stat(pid int) (procStat, error) {
	if err := procIsOurs(); err != nil {
		return procStat{}, err
	}
	r := procReader{buf: make([]byte, statSize)}
	b, err := r.read("/proc/" + strconv.Itoa(pid) + "/stat")
	switch {
	case errors.Is(err, unix.ESRCH), errors.Is(err, fs.ErrNotExist) && errors.Is(unix.Kill(pid, 0), unix.ESRCH):
		return procStat{}, fmt.Errorf("process %d: %w", pid, ErrNoProcess)
	case errors.Is(err, fs.ErrNotExist): // mounted with hidepid, and not ours
		return procStat{}, fmt.Errorf("process %d is hidden from us in /proc", pid)
	case err != nil:
		return procStat{}, err
	}
	return parseStat(b)
}

// kernelThread is the kernel's PF_KTHREAD flag.
const kernelThread = 0x00200000

// parseStat reads one line of /proc/PID/stat. The name in it may hold spaces and
// parentheses, so fields are counted from its last ')'.
func parseStat(line []byte) (procStat, error) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return procStat{}, fmt.Errorf("cannot read a process's stat: %q", line)
	}
	f := bytes.Fields(line[end+1:]) // f[0] is field 3 of proc_pid_stat(5)
	if len(f) < 20 {
		return procStat{}, fmt.Errorf("cannot read a process's stat: %q", line)
	}
	var st procStat
	var errs [6]error
	st.name = string(line[open+1 : end])
	st.ppid, errs[0] = strconv.Atoi(string(f[1]))
	st.pgid, errs[1] = strconv.Atoi(string(f[2]))
	st.sid, errs[2] = strconv.Atoi(string(f[3]))
	flags, err := strconv.ParseUint(string(f[6]), 10, 64)
	errs[3] = err
	threads, err := strconv.Atoi(string(f[17]))
	errs[4] = err
	st.start, errs[5] = strconv.ParseUint(string(f[19]), 10, 64)
	st.kernel = flags&kernelThread != 0
	// A process whose first thread has ended while others run says Z too.
	st.zombie = f[0][0] == 'X' || f[0][0] == 'Z' && threads <= 1
	return st, errors.Join(errs[:]...)
}
