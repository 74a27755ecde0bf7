package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"berth/internal/session"

	"golang.org/x/sys/unix"
)

// defaultPath is searched when PATH is empty, as execvp does.
const defaultPath = "/bin:/usr/bin"

// Executable finds the program argv0 as execvp would in directory cwd with the
// caller's PATH, and returns its absolute path. An argv0 with a slash is a path,
// relative to cwd; so are relative and empty entries of PATH. The error, a
// session.Error, says what was looked for and where, and what stood there instead.
func Executable(argv0, cwd, pathEnv string) (string, error) {
	if argv0 == "" {
		return "", session.Errorf(session.Failed, "cannot find a program without a name")
	}
	if strings.Contains(argv0, "/") {
		path := absolute(cwd, argv0)
		if err := runnable(path); err != nil {
			return "", session.Errorf(session.Failed, "cannot run %s: %w", path, err).
				WithHint("%s", whatToDo(path, err))
		}
		return path, nil
	}
	if pathEnv == "" {
		pathEnv = defaultPath
	}
	var near error
	var nearPath string
	for _, dir := range filepath.SplitList(pathEnv) {
		path := absolute(cwd, filepath.Join(dir, argv0))
		err := runnable(path)
		if err == nil {
			return path, nil
		}
		if near == nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) {
			near, nearPath = err, path
		}
	}
	if near != nil {
		return "", session.Errorf(session.Failed, "cannot run %s: %s: %w", argv0, nearPath, near).
			WithHint("%s", whatToDo(nearPath, near))
	}
	return "", session.Errorf(session.Failed, "cannot find %s in PATH (%s)", argv0, pathEnv).
		WithHint("install %s, or write its full path into start", argv0)
}

// Why a file that is there cannot be run.
var (
	errDirectory = errors.New("it is a directory")
	errNoMode    = errors.New("it is not executable")
	errMissing   = fileError{"there is no such file", fs.ErrNotExist}
)

// fileError is a plain sentence that still is its cause.
type fileError struct {
	text  string
	cause error
}

func (e fileError) Error() string { return e.text }
func (e fileError) Unwrap() error { return e.cause }

func runnable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errMissing
	case err != nil:
		return errors.Unwrap(err)
	case info.IsDir():
		return errDirectory
	case !info.Mode().IsRegular() || unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS) != nil:
		return errNoMode
	}
	return nil
}

func whatToDo(path string, err error) string {
	if errors.Is(err, errNoMode) {
		return "chmod +x " + path
	}
	return "name the agent's program in start: a command of PATH, or its full path"
}

// Unavailable stands for the digest of a file that cannot be read.
const Unavailable = "unavailable"

// Print is what identifies an executable as evidence.
type Print struct {
	Path    string    `json:"path"`
	Size    int64     `json:"size"` // bytes
	ModTime time.Time `json:"mtime"`
	SHA256  string    `json:"sha256,omitempty"` // hex, Unavailable, or "" if it was not asked for
}

// Fingerprint describes the file at path. With digest it also reads it whole, which
// takes half a second for an agent of 400 MB; a file that may be run but not read
// has the digest Unavailable. The error is that of stat.
func Fingerprint(path string, digest bool) (Print, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Print{Path: path}, err
	}
	p := Print{Path: path, Size: info.Size(), ModTime: info.ModTime()}
	if digest {
		p.SHA256 = sum(path)
	}
	return p, nil
}

func sum(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return Unavailable
	}
	defer f.Close() //nolint:errcheck // read only
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return Unavailable
	}
	return hex.EncodeToString(h.Sum(nil))
}
