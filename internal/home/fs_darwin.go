package home

import (
	"io/fs"
	"syscall"

	"berth/internal/session"

	"golang.org/x/sys/unix"
)

func refuseNetwork(dir string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return session.Errorf(session.Failed, "cannot examine %s: %w", dir, err)
	}
	if st.Flags&unix.MNT_LOCAL == 0 {
		return session.Errorf(session.Refused, "cannot use %s: it is on a network file system (%s), where locks do not hold", dir, unix.ByteSliceToString(st.Fstypename[:])).
			WithHint("export %s=/a/local/directory", EnvVar)
	}
	return nil
}

func owner(st fs.FileInfo) int { return int(st.Sys().(*syscall.Stat_t).Uid) }
