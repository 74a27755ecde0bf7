package clients

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"berth/internal/point"
)

// Identity names one process for ever. The zero value names none.
type Identity struct {
	Host  string `json:"host"`  // the machine: machine id, else host name
	Boot  string `json:"boot"`  // the kernel's boot id
	PIDNS string `json:"pidns"` // the pid namespace, "" where the system has none
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // kernel start time: clock ticks since boot (Linux), microseconds since the epoch (Darwin)
}

// IsZero reports whether id names no process.
func (id Identity) IsZero() bool { return id.PID == 0 }

// String is "pid-start", the name of the process within its boot and namespace.
func (id Identity) String() string { return fmt.Sprintf("%d-%d", id.PID, id.Start) }

// Status is what can be said of a process's life.
type Status int

// Unknown is the zero value: nothing may be concluded from it.
const (
	Unknown Status = iota
	Live
	Dead
)

func (s Status) String() string { return [...]string{"unknown", "live", "dead"}[s] }

// Liveness is a status with the reason a person is told.
type Liveness struct {
	Status Status
	Reason string
}

// ErrNoProcess is wrapped by Of and Open when no live process has that pid (or
// only a zombie, or another process that got the number).
var ErrNoProcess = errors.New("no such process")

// Machine returns this machine's part of an identity: host, boot and namespace,
// with no process. It is read once.
func Machine() Identity { return machine() }

var machine = sync.OnceValue(func() Identity {
	id := Identity{Host: hostID(), Boot: bootID(), PIDNS: pidNamespace()}
	if v := point.Value("boot-id"); v != "" {
		id.Boot = v
	}
	return id
})

// unread stands in an identity for what the system did not tell. It equals
// nothing, itself included.
const unread = "unknown"

func hostID() string {
	if b, err := os.ReadFile("/etc/machine-id"); err == nil && strings.TrimSpace(string(b)) != "" {
		return strings.TrimSpace(string(b))
	}
	name, err := os.Hostname()
	if err != nil {
		return unread
	}
	return name
}

// Self is the identity of the calling process. Where the system does not tell it,
// the result names no start time and Check says unknown.
func Self() Identity { return self() }

var self = sync.OnceValue(func() Identity {
	id, err := Of(os.Getpid())
	if err != nil {
		id = Machine()
		id.PID, id.PIDNS = os.Getpid(), unread
	}
	return id
})

// Of returns the identity of the live process pid on this machine. The error
// wraps ErrNoProcess when there is none; a zombie is none.
func Of(pid int) (Identity, error) {
	st, err := stat(pid)
	if err != nil {
		return Identity{}, err
	}
	if st.zombie {
		return Identity{}, fmt.Errorf("process %d has ended: %w", pid, ErrNoProcess)
	}
	id := Machine()
	id.PID, id.Start = pid, st.start
	return id, nil
}

// Check says whether the process id names is alive. Only the same host and
// namespace may call it dead, or the same host after a reboot.
func Check(id Identity) Liveness {
	here := Machine()
	switch {
	case id.IsZero():
		return Liveness{Unknown, "no process is recorded"}
	case here.Boot == unread || id.Boot == unread || here.PIDNS == unread || id.PIDNS == unread:
		return Liveness{Unknown, "this system does not tell its boot or pid namespace"}
	case id.Boot != here.Boot && id.Host == here.Host:
		return Liveness{Dead, "the machine was restarted since"}
	case id.Boot != here.Boot:
		return Liveness{Unknown, "it was started on another host (" + id.Host + ")"}
	case id.PIDNS != here.PIDNS:
		return Liveness{Unknown, "it was started in another container (pid namespace " + id.PIDNS + ")"}
	}
	st, err := stat(id.PID)
	switch {
	case errors.Is(err, ErrNoProcess):
		return Liveness{Dead, "process gone"}
	case err != nil:
		return Liveness{Unknown, err.Error()}
	case st.start != id.Start:
		return Liveness{Dead, "its pid belongs to another process now"}
	case st.zombie:
		return Liveness{Dead, "process ended"}
	}
	return Liveness{Live, "process runs"}
}

// procStat is what the kernel tells of a process, zombies included.
type procStat struct {
	name   string // the kernel's short name, 15 bytes on Linux
	ppid   int
	pgid   int
	sid    int
	start  uint64
	zombie bool // every thread has ended
	kernel bool // a thread of the kernel: no program, no environment
}
