package clients

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// environSize is what most environments fit into, in bytes. Larger ones are read
// whole too: a mark may be their last word.
const environSize = 64 << 10

// procReader reads files of /proc into one buffer, kept between reads.
type procReader struct{ buf []byte }

// read returns the whole file; the bytes are good until the next call.
func (r *procReader) read(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd) //nolint:errcheck // read only
	if r.buf == nil {
		r.buf = make([]byte, environSize)
	}
	for n := 0; ; {
		if n == len(r.buf) {
			r.buf = append(r.buf, make([]byte, n)...)
		}
		m, err := unix.Read(fd, r.buf[n:])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return nil, err
		case m == 0:
			return r.buf[:n], nil
		default:
			n += m
		}
	}
}

// marks reads what pid's environment said when its program was started. Only the
// same user may, and not of a program that forbids being traced.
func (r *procReader) marks(pid int) (Marks, error) {
	environ, err := r.read("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return Marks{}, err
	}
	return parseMarks(environ), nil
}

// list reads every process in one pass over /proc, without threads of the kernel
// and zombies. Processes that end meanwhile may be missing.
func list() (map[int]*proc, error) {
	if err := procIsOurs(); err != nil {
		return nil, err
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close() //nolint:errcheck // read only
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var r procReader
	all := make(map[int]*proc, len(names))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		p := &proc{pid: pid}
		line, err := r.read("/proc/" + name + "/stat")
		if err == nil {
			p.procStat, err = parseStat(line)
		}
		if gone(err) || p.zombie || p.kernel {
			continue
		}
		if err != nil {
			return nil, err
		}
		if p.marks, p.hidden = r.marks(pid); gone(p.hidden) {
			p.hidden = nil // it is on its way out: no memory, so no marks, but children still
		}
		all[pid] = p
	}
	return all, nil
}

func gone(err error) bool { return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH) }

// marksOf reads the marks of one process.
func marksOf(pid int) (Marks, error) {
	var r procReader
	return r.marks(pid)
}
