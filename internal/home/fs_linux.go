package home

import (
	"io/fs"
	"syscall"

	"berth/internal/session"

	"golang.org/x/sys/unix"
)

// Network file systems, on which flock, inotify and rename do not hold what the
// rest of berth relies on. Numbers from statfs(2).
var network = map[int64]string{
	0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB2",
	0x5346414f: "AFS", 0x00c36400: "Ceph", 0x01021997: "9P", 0x564c: "NCP", 0x73757245: "Coda",
}

func refuseNetwork(dir string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return session.Errorf(session.Failed, "cannot examine %s: %w", dir, err)
	}
	if name, bad := network[int64(uint32(st.Type))]; bad {
		return session.Errorf(session.Refused, "cannot use %s: it is on a network file system (%s), where locks do not hold", dir, name).
			WithHint("export %s=/a/local/directory", EnvVar)
	}
	return nil
}

func owner(st fs.FileInfo) int { return int(st.Sys().(*syscall.Stat_t).Uid) }
