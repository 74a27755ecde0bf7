package clients

import (
	"bytes"
	"encoding/binary"
	"errors"

	"golang.org/x/sys/unix"
)

// list asks kern.proc.all for every process, without zombies.
func list() (map[int]*proc, error) {
	infos, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	all := make(map[int]*proc, len(infos))
	for i := range infos {
		p := &proc{procStat: statOf(&infos[i]), pid: int(infos[i].Proc.P_pid)}
		if p.zombie || p.kernel {
			continue
		}
		if p.marks, p.hidden = marksOf(p.pid); errors.Is(p.hidden, unix.ESRCH) {
			p.hidden = nil // it is on its way out
		}
		all[p.pid] = p
	}
	return all, nil
}

// marksOf reads the environment through kern.procargs2, which answers for the same
// user only, and without the environment for programs of the system itself: those
// count as unmarked.
func marksOf(pid int) (Marks, error) {
	args, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return Marks{}, err
	}
	return parseMarks(environOf(args)), nil
}

// environOf skips what stands before the environment: the number of arguments (a
// 32-bit integer), the program's path, zeros up to a word's end, the arguments.
func environOf(args []byte) []byte {
	if len(args) < 4 {
		return nil
	}
	argc := int(binary.NativeEndian.Uint32(args))
	_, rest, _ := bytes.Cut(args[4:], []byte{0})
	rest = bytes.TrimLeft(rest, "\x00")
	for range argc {
		_, rest, _ = bytes.Cut(rest, []byte{0})
	}
	return rest
}
