package registry

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"

	"berth/internal/atomicfile"
	"berth/internal/session"

	"golang.org/x/sys/unix"
)

// opCreate labels the making of the database file, for tests that let it fail.
const opCreate = "registry.create"

// admit makes sure that a private database file of ours stands at path.
//
// It never opens the file: closing any descriptor of it would drop the locks that
// this process holds on it through SQLite.
func admit(path string) error {
	log := path + "-wal"
	logged, err := inspect(log) // before the database, which comes first and is never removed
	if err != nil {
		return err
	}
	if _, err := inspect(path + "-shm"); err != nil {
		return err
	}
	size, err := inspect(path)
	switch {
	case err != nil:
		return err
	case size > 0:
		return nil
	case size == 0:
		return session.Errorf(session.Failed, "cannot open %s: it is empty, so its sessions were lost", path).
			WithHint("put a copy back, or move it away to start with no sessions: mv %s %s.lost", path, path)
	case logged > 0:
		return session.Errorf(session.Failed, "cannot open %s: it is gone, but its log %s is there", path, log).
			WithHint("put the database back, or move the log away to start with no sessions: mv %s %s.lost", log, log)
	}
	if err := atomicfile.Create(opCreate, path, emptyDatabase()); err != nil && !errors.Is(err, fs.ErrExist) {
		return session.Errorf(session.Failed, "%w", err)
	}
	return nil
}

// inspect returns the size of the file at path in bytes, -1 if there is none, or an
// error if it is not a private regular file of ours.
func inspect(path string) (int64, error) {
	var st unix.Stat_t
	err := unix.Lstat(path, &st)
	refuse := func(why string, args ...any) (int64, error) {
		return 0, session.Errorf(session.Failed, "cannot open %s: "+why, append([]any{path}, args...)...)
	}
	switch {
	case errors.Is(err, unix.ENOENT):
		return -1, nil
	case err != nil:
		return refuse("%w", err)
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return refuse("it is a link or not a regular file")
	case int(st.Uid) != os.Geteuid():
		return refuse("it belongs to uid %d", st.Uid)
	case st.Mode&0o077 != 0:
		return 0, session.Errorf(session.Failed, "cannot open %s: others may access it (mode %04o)", path, st.Mode&0o777).
			WithHint("chmod 600 %s", path)
	}
	return st.Size, nil
}

// applicationID marks a SQLite file as a registry of berth ("brth").
const applicationID = 0x62727468

// emptyDatabase is the first page of a SQLite file without tables, as described in
// https://www.sqlite.org/fileformat2.html, marked as ours and in WAL mode.
//
// A file that is born so has two merits over an empty one: SQLite does not honour
// busy_timeout while it switches a file to WAL, so of many first openers some would
// fail; and an empty file is always a loss, never a beginning.
func emptyDatabase() []byte {
	const pageBytes = 4096
	p := make([]byte, pageBytes)
	copy(p, "SQLite format 3\x00")
	binary.BigEndian.PutUint16(p[16:], pageBytes)
	p[18], p[19] = 2, 2                   // written and read in WAL mode
	p[21], p[22], p[23] = 64, 32, 32      // payload fractions, fixed by the format
	binary.BigEndian.PutUint32(p[24:], 1) // file change counter
	binary.BigEndian.PutUint32(p[28:], 1) // pages in the file
	binary.BigEndian.PutUint32(p[44:], 4) // schema format
	binary.BigEndian.PutUint32(p[56:], 1) // UTF-8
	binary.BigEndian.PutUint32(p[68:], applicationID)
	binary.BigEndian.PutUint32(p[92:], 1)          // the change counter the page count is valid for
	binary.BigEndian.PutUint32(p[96:], 3_046_000)  // written by SQLite 3.46
	p[100] = 0x0d                                  // an empty leaf of the schema table
	binary.BigEndian.PutUint16(p[105:], pageBytes) // whose cells would start at the end
	return p
}
