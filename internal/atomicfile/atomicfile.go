// Package atomicfile reads and replaces small files so that a reader sees the old
// bytes or the new ones, also after a power loss, and so that nobody else's file
// is ever read or written through a link.
//
// It is where berth meets the disk: every call carries an operation label, which
// names the step in errors and lets a test make just that step fail.
package atomicfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"berth/internal/point"

	"golang.org/x/sys/unix"
)

// TempDir is the sub directory of a file's own directory in which its next version
// is written, if it exists; else the temporary file stands beside it. A directory
// watched with inotify has one, so that a replacement is one event.
const TempDir = ".tmp"

// MaxSize is the largest file Read returns, in bytes. Evidence is small; anything
// larger is not ours.
const MaxSize = 16 << 20

// ErrUnsafe is wrapped by errors about files that are not regular, not ours, or
// open to others.
var ErrUnsafe = errors.New("not a private regular file of ours")

// Write replaces path with data: temporary file, mode 0600, fsync, rename, fsync
// of the directory. On error the old file is intact and no temporary file is left.
func Write(op, path string, data []byte) error {
	return publish(op, path, data, os.Rename)
}

// Create is Write for a file that must not exist yet; if it does the error wraps
// fs.ErrExist and nothing changes.
func Create(op, path string, data []byte) error {
	return publish(op, path, data, func(tmp, path string) error {
		if err := os.Link(tmp, path); err != nil {
			return err
		}
		os.Remove(tmp) //nolint:errcheck // a second name of a published file, in a directory swept later
		return nil
	})
}

// publish is every whole-file write. The order is what a power loss tests: bytes on
// the disk, then the name, then the directory that holds the name. No test cuts the
// power, and one that listened in on the calls would only say this function again.
func publish(op, path string, data []byte, move func(tmp, path string) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("cannot write %s (%s): %w", path, op, err)
		}
	}()
	if err := point.Fail(op); err != nil {
		return err
	}
	f, err := temp(path)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name()) //nolint:errcheck // best effort on the way out
		}
	}()
	if _, err := f.Write(data); err != nil {
		f.Close() //nolint:errcheck // the write error is the one to tell
		return err
	}
	if err := f.Sync(); err != nil {
		f.Close() //nolint:errcheck // the sync error is the one to tell
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := move(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func temp(path string) (*os.File, error) {
	dir := filepath.Join(filepath.Dir(path), TempDir)
	f, err := os.CreateTemp(dir, filepath.Base(path)+"-*")
	if errors.Is(err, fs.ErrNotExist) {
		return os.CreateTemp(filepath.Dir(path), TempDir+"-"+filepath.Base(path)+"-*")
	}
	return f, err
}

// Mkdir makes the directory path, mode 0700, and makes it durable. One that exists is
// not an error.
func Mkdir(op, path string) error {
	err := point.Fail(op)
	if err == nil {
		err = os.Mkdir(path, 0o700)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot make %s (%s): %w", path, op, err)
	}
	return syncDir(filepath.Dir(path))
}

// Rename moves from to to and makes it durable. Of several callers moving one
// file, exactly one succeeds; the others' errors wrap fs.ErrNotExist.
func Rename(op, from, to string) error {
	if err := point.Fail(op); err != nil {
		return fmt.Errorf("cannot rename %s to %s (%s): %w", from, filepath.Base(to), op, err)
	}
	if err := os.Rename(from, to); err != nil {
		return fmt.Errorf("cannot rename %s to %s (%s): %w", from, filepath.Base(to), op, err)
	}
	return syncDir(filepath.Dir(to))
}

// Remove removes path. A missing file is an error, wrapping fs.ErrNotExist. It is not
// synced: after a power loss the file may be there again.
func Remove(op, path string) error {
	if err := point.Fail(op); err != nil {
		return fmt.Errorf("cannot remove %s (%s): %w", path, op, err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("cannot remove %s (%s): %w", path, op, err)
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close() //nolint:errcheck // opened for sync only
	return d.Sync()
}

// Read returns the bytes of a private regular file of ours, without following a
// link. Errors wrap fs.ErrNotExist, ErrUnsafe, or are the system's own.
func Read(path string) ([]byte, error) {
	// Bare system calls: a list reads thousands of files, and an os.File doubles them.
	fd, err := retry(func() (int, error) {
		return unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	if err == unix.ELOOP {
		return nil, fmt.Errorf("cannot read %s: it is a link: %w", path, ErrUnsafe)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	defer unix.Close(fd) //nolint:errcheck // read only
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return nil, fmt.Errorf("cannot read %s: it is not a regular file: %w", path, ErrUnsafe)
	case int(st.Uid) != os.Geteuid():
		return nil, fmt.Errorf("cannot read %s: it belongs to uid %d: %w", path, st.Uid, ErrUnsafe)
	case st.Mode&0o022 != 0:
		return nil, fmt.Errorf("cannot read %s: others may write it (mode %04o): %w", path, st.Mode&0o777, ErrUnsafe)
	case st.Size > MaxSize:
		return nil, fmt.Errorf("cannot read %s: %d bytes is too large: %w", path, st.Size, ErrUnsafe)
	}
	// Files are replaced, never changed, so the size is right.
	data := make([]byte, st.Size)
	for n := 0; n < len(data); {
		m, err := retry(func() (int, error) { return unix.Read(fd, data[n:]) })
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", path, err)
		}
		if m == 0 {
			return data[:n], nil
		}
		n += m
	}
	return data, nil
}

// retry makes a system call again that a signal interrupted.
func retry(call func() (int, error)) (n int, err error) {
	for n, err = call(); err == unix.EINTR; n, err = call() {
	}
	return n, err
}

// NewerError says that a file was written by a newer berth than this one.
type NewerError struct {
	Path      string
	Have, Max int
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("cannot read %s: it has schema_version %d, and this berth knows up to %d", e.Path, e.Have, e.Max)
}

// ReadJSON decodes the JSON document at path into v, ignoring unknown fields and
// refusing a schema_version above max with *NewerError.
func ReadJSON(path string, max int, v any) error {
	data, err := Read(path)
	if err != nil {
		return err
	}
	return Decode(path, data, max, v)
}

// Decode is ReadJSON for bytes already read; path only names them in errors.
func Decode(path string, data []byte, max int, v any) error {
	have, err := schemaVersion(data)
	switch {
	case err != nil:
		return fmt.Errorf("cannot read %s: not valid JSON: %w", path, err)
	case have < 1:
		return fmt.Errorf("cannot read %s: it has no schema_version", path)
	case have > max:
		return &NewerError{Path: path, Have: have, Max: max}
	}
	if err := json.Unmarshal(data, v); err != nil {
		what := ""
		if _, ok := errors.AsType[*json.SyntaxError](err); ok {
			what = "not valid JSON: "
		}
		return fmt.Errorf("cannot read %s: %s%w", path, what, err)
	}
	return nil
}

// written is how encode begins every document with a schema_version.
const written = "{\n  \"schema_version\": "

// schemaVersion finds a document's schema_version, 0 if it has none. Of one that we
// wrote only the beginning is looked at: to parse it twice is half the time of a list.
func schemaVersion(data []byte) (int, error) {
	if rest, ok := bytes.CutPrefix(data, []byte(written)); ok {
		if number, _, ok := bytes.Cut(rest, []byte(",\n")); ok {
			if n, err := strconv.Atoi(string(number)); err == nil {
				return n, nil
			}
		}
	}
	var head struct {
		SchemaVersion int `json:"schema_version"`
	}
	err := json.Unmarshal(data, &head)
	return head.SchemaVersion, err
}

// WriteJSON is Write of v as one indented JSON document with a final newline.
func WriteJSON(op, path string, v any) error {
	data, err := encode(v)
	if err != nil {
		return err
	}
	return Write(op, path, data)
}

// CreateJSON is Create of v as one indented JSON document with a final newline.
func CreateJSON(op, path string, v any) error {
	data, err := encode(v)
	if err != nil {
		return err
	}
	return Create(op, path, data)
}

func encode(v any) ([]byte, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	return append(data, '\n'), err
}

// Drop is WriteJSON without any fsync, for messages whose loss in a power failure
// loses nothing: their reader writes down what it made of them.
func Drop(op, path string, v any) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("cannot write %s (%s): %w", path, op, err)
		}
	}()
	if err := point.Fail(op); err != nil {
		return err
	}
	data, err := encode(v)
	if err != nil {
		return err
	}
	f, err := temp(path)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name()) //nolint:errcheck // best effort on the way out
	}
	return err
}
