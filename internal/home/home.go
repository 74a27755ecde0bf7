// Package home is berth's state directory: where it is, what lies where in it, and
// that nobody else can reach into it. Two homes never see each other.
//
// It knows paths, not formats: what is in the files belongs to manifest (run
// directories), registry (berth.db), tmux and lock.
package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"berth/clients"
	"berth/internal/atomicfile"
	"berth/internal/session"
)

// EnvVar names the home in the environment, for people and for everything berth starts.
const EnvVar = clients.HomeMark

// maxSocketPath is the longest socket path used, in bytes. The kernel's limit is
// 107 (Linux) or 103 (Darwin); tmux adds nothing to it.
const maxSocketPath = 100

const schema = 1

// Home is one opened state directory. It is a value without open files and safe
// for concurrent use.
type Home struct {
	Dir     string // absolute, symbolic links resolved
	ID      string // made once; names the home in records and tmux options
	Sockets string // directory of the sockets: inside Dir, or under /tmp where paths would be too long
}

type record struct {
	SchemaVersion int    `json:"schema_version"`
	ID            string `json:"id"`
	Host          string `json:"host"`
	Sockets       string `json:"sockets"`
	CreatedAt     string `json:"created_at"`
}

// Path is the state directory that the environment names: $BERTH_HOME, else
// $XDG_STATE_HOME/berth, else ~/.local/state/berth. Relative values are refused:
// they would name another home in every directory.
func Path(getenv func(string) string) (string, error) {
	for _, c := range []struct{ name, sub string }{
		{EnvVar, ""}, {"XDG_STATE_HOME", "berth"}, {"HOME", ".local/state/berth"},
	} {
		v := getenv(c.name)
		if v == "" {
			continue
		}
		if !filepath.IsAbs(v) {
			return "", session.Errorf(session.Usage, "cannot use %s=%s: it is not an absolute path", c.name, v).
				WithHint("export %s=%q", c.name, "$PWD/"+v)
		}
		return filepath.Join(v, c.sub), nil
	}
	return "", session.Errorf(session.Usage, "cannot find a home: neither %s nor HOME is set", EnvVar).
		WithHint("export %s=/path/to/a/directory", EnvVar)
}

// Open opens the home at dir, making it when it does not exist. It refuses a
// directory that is a link, belongs to someone else, can be reached by others, or
// lies on a network file system, and says what mends it.
func Open(dir string) (*Home, error) {
	if to, err := os.Readlink(dir); err == nil {
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(dir), to)
		}
		return nil, session.Errorf(session.Refused, "cannot use %s: it is a link", dir).
			WithHint("name the directory itself: export %s=%q", EnvVar, to)
	}
	if err := secureDir(dir); err != nil {
		if _, none := os.Lstat(filepath.Join(dir, "home.json")); none == nil {
			return nil, err
		}
		// It was never a home: what would mend one could ruin what it is.
		return nil, session.Errorf(session.ClassOf(err), "%w", err).
			WithHint("name a directory of berth's own: export %s=DIR", EnvVar)
	}
	dir, err := filepath.EvalSymlinks(dir) // parents may be links; the home itself is not
	if err != nil {
		return nil, session.Errorf(session.Failed, "cannot open home: %w", err)
	}
	if err := refuseNetwork(dir); err != nil {
		return nil, err
	}
	for _, sub := range []string{"runs", "locks"} {
		if err := secureDir(filepath.Join(dir, sub)); err != nil {
			return nil, err
		}
	}
	rec, err := identify(dir)
	if err != nil {
		return nil, err
	}
	if err := secureDir(rec.Sockets); err != nil {
		return nil, err
	}
	return &Home{Dir: dir, ID: rec.ID, Sockets: rec.Sockets}, nil
}

// identify reads home.json, or makes it; of several first users one wins.
func identify(dir string) (record, error) {
	path := filepath.Join(dir, "home.json")
	var rec record
	err := atomicfile.ReadJSON(path, schema, &rec)
	if err == nil && (rec.ID == "" || !filepath.IsAbs(rec.Sockets)) {
		err = fmt.Errorf("cannot read %s: its id or its sockets are missing", path)
	}
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return rec, err
	}
	rec = record{
		SchemaVersion: schema, ID: session.NewID(), Host: clients.Machine().Host,
		Sockets: filepath.Join(dir, "sock"), CreatedAt: time.Now().UTC().Format(time.RFC3339),
	}
	if len(rec.Sockets)+1+session.IDLen > maxSocketPath {
		rec.Sockets = fmt.Sprintf("/tmp/berth-%d-%s", os.Geteuid(), session.NewID())
	}
	err = atomicfile.CreateJSON("home.json", path, rec)
	if errors.Is(err, fs.ErrExist) {
		err = atomicfile.ReadJSON(path, schema, &rec)
	}
	return rec, err
}

// secureDir makes dir if it is missing and refuses it unless it is a directory of
// ours that nobody else can enter.
func secureDir(dir string) error {
	st, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
			return session.Errorf(session.Failed, "cannot make %s: %w", dir, err)
		}
		// A second maker may have been quicker: the check below judges what is there.
		if err := os.Mkdir(dir, 0o700); err == nil {
			err = os.Chmod(dir, 0o700) // whatever the umask
			if err != nil {
				return session.Errorf(session.Failed, "cannot make %s private: %w", dir, err)
			}
		} else if !errors.Is(err, fs.ErrExist) {
			return session.Errorf(session.Failed, "cannot make %s: %w", dir, err)
		}
		st, err = os.Lstat(dir)
	}
	if err != nil {
		return session.Errorf(session.Failed, "cannot open %s: %w", dir, err)
	}
	return judge(dir, st)
}

// judge refuses what is not a directory of ours that nobody else can enter.
func judge(dir string, st fs.FileInfo) error {
	switch {
	case st.Mode()&fs.ModeSymlink != 0:
		return session.Errorf(session.Refused, "cannot use %s: it is a link", dir).
			WithHint("put the directory itself there: d=$(realpath %[1]q) && rm %[1]q && mv \"$d\" %[1]q", dir)
	case !st.IsDir():
		return session.Errorf(session.Refused, "cannot use %s: it is not a directory", dir).
			WithHint("mv %[1]q %[1]q.old", dir)
	case owner(st) != os.Geteuid():
		return session.Errorf(session.Refused, "cannot use %s: it belongs to uid %d, you are uid %d", dir, owner(st), os.Geteuid()).
			WithHint("sudo chown -R %d %q", os.Geteuid(), dir)
	case st.Mode().Perm()&0o077 != 0:
		return session.Errorf(session.Refused, "cannot use %s: others can reach into it (mode %04o)", dir, st.Mode().Perm()).
			WithHint("chmod -R go= %q", dir)
	}
	return nil
}

// CheckRun refuses the directory of the run with this id as Open refuses a home. One
// that is not there is for others to judge.
func (h *Home) CheckRun(id string) error {
	dir := h.Run(id)
	for _, d := range []string{filepath.Dir(dir), dir} {
		st, err := os.Lstat(d)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return session.Errorf(session.Unknown, "cannot examine %s: %w", d, err)
		}
		if err := judge(d, st); err != nil {
			return err
		}
	}
	return nil
}

// Run is the directory of the run with this id.
func (h *Home) Run(id string) string { return filepath.Join(h.Dir, "runs", id[:2], id) }

// RunSocket is the path of the socket of the run's supervisor.
func (h *Home) RunSocket(id string) string { return filepath.Join(h.Sockets, id) }

// Locks is the directory of the lock files.
func (h *Home) Locks() string { return filepath.Join(h.Dir, "locks") }

// Registry is the path of the database of decisions.
func (h *Home) Registry() string { return filepath.Join(h.Dir, "berth.db") }

// TmuxSocket, TmuxConf and TmuxRecord are the paths of the home's tmux server.
func (h *Home) TmuxSocket() string { return filepath.Join(h.Sockets, "tmux") }

// TmuxConf is berth's own tmux configuration, written by berth.
func (h *Home) TmuxConf() string { return filepath.Join(h.Dir, "tmux.conf") }

// TmuxRecord says which process the home's tmux server is.
func (h *Home) TmuxRecord() string { return filepath.Join(h.Dir, "tmux.json") }

// ConfigDir is where the person's own configuration is: $XDG_CONFIG_HOME/berth,
// else ~/.config/berth; "" when neither is known.
func ConfigDir(getenv func(string) string) string {
	if v := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(v) {
		return filepath.Join(v, "berth")
	}
	if v := getenv("HOME"); filepath.IsAbs(v) {
		return filepath.Join(v, ".config", "berth")
	}
	return ""
}
