package clients

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

func bootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return unread
	}
	return strings.TrimSpace(id)
}

// pidNamespace is empty: Darwin has none.
func pidNamespace() string { return "" }

// zombieState is SZOMB of <sys/proc.h>.
const zombieState = 5

// stat asks kern.proc.pid, which answers a missing process with nothing: EIO from
// the wrapper.
func stat(pid int) (procStat, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EIO) && errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return procStat{}, fmt.Errorf("process %d: %w", pid, ErrNoProcess)
	}
	if err != nil {
		return procStat{}, fmt.Errorf("cannot ask for process %d: %w", pid, err)
	}
	return statOf(k), nil
}

// statOf keeps what berth needs of k. The session is asked for apart: kinfo holds
// a kernel address only, and 0 when the process is gone by now.
func statOf(k *unix.KinfoProc) procStat {
	sid, _ := unix.Getsid(int(k.Proc.P_pid)) //nolint:errcheck // 0 is no session
	return procStat{
		name:   unix.ByteSliceToString(k.Proc.P_comm[:]),
		ppid:   int(k.Eproc.Ppid),
		pgid:   int(k.Eproc.Pgid),
		sid:    sid,
		start:  uint64(k.Proc.P_starttime.Sec)*1_000_000 + uint64(k.Proc.P_starttime.Usec),
		zombie: k.Proc.P_stat == zombieState,
		kernel: k.Proc.P_pid == 0,
	}
}
