package manifest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"berth/internal/atomicfile"
	"berth/internal/session"
)

// Dir is the path of a run directory. Its methods are safe for concurrent use by
// any number of processes.
type Dir string

// Path joins names to the directory.
func (d Dir) Path(names ...string) string {
	return filepath.Join(append([]string{string(d)}, names...)...)
}

// subdirs are made with the run, so that nothing needs to be made later: a
// directory that somebody removed is reported, not made again by half.
var subdirs = []string{atomicfile.TempDir, "clients", "requests", "inbox"}

// Schema is the newest schema_version this berth reads and the one it writes, of
// every document in the run directory.
const Schema = 1

// Manifest says what was started. It is written once and never changed.
type Manifest struct {
	SchemaVersion int        `json:"schema_version"`
	Run           string     `json:"run"`
	Session       string     `json:"session"`
	Kind          string     `json:"kind"` // "conversation" or "flow"
	Provider      string     `json:"provider"`
	Model         string     `json:"model,omitempty"`
	Cwd           string     `json:"cwd"`
	Repo          string     `json:"repo,omitempty"`     // top of the repository cwd is in
	Worktree      string     `json:"worktree,omitempty"` // top of the work tree cwd is in
	CallerRun     string     `json:"caller_run,omitempty"`
	CreatedAt     string     `json:"created_at"` // RFC 3339
	Host          string     `json:"host"`
	Boot          string     `json:"boot"`
	PIDNS         string     `json:"pidns"`
	Versions      Versions   `json:"versions"`
	Executable    Executable `json:"executable"`
	// EnvNames are the names of the client's environment variables. Values are kept
	// of PATH and of the variables that are part of the provider's identity only.
	EnvNames []string          `json:"env_names"`
	Env      map[string]string `json:"env"`
}

// Versions says which programs made the run.
type Versions struct {
	Berth    string `json:"berth"`
	Protocol int    `json:"protocol"`
}

// Executable is the program that was started.
type Executable struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	MTime  string `json:"mtime"`            // RFC 3339 with nanoseconds
	SHA256 string `json:"sha256,omitempty"` // only when needed as evidence; "unavailable" when it could not be read
}

// Publish makes the run directory with m in it. It appears whole or not at all.
// If the run exists already the error wraps fs.ErrExist.
func Publish(d Dir, m Manifest) (err error) {
	m.SchemaVersion = Schema
	if _, err := os.Lstat(string(d)); err == nil {
		return fmt.Errorf("cannot publish run %s: %w", m.Run, fs.ErrExist)
	}
	parent := filepath.Dir(string(d))
	if err := atomicfile.Mkdir("run-parent", parent); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(parent, ".publish-*")
	if err != nil {
		return fmt.Errorf("cannot publish run %s: %w", m.Run, err)
	}
	defer func() {
		if err != nil {
			os.RemoveAll(tmp) //nolint:errcheck // best effort on the way out
		}
	}()
	for _, sub := range subdirs {
		if err := os.Mkdir(filepath.Join(tmp, sub), 0o700); err != nil {
			return fmt.Errorf("cannot publish run %s: %w", m.Run, err)
		}
	}
	if err := atomicfile.WriteJSON("manifest", filepath.Join(tmp, "manifest.json"), m); err != nil {
		return err
	}
	return atomicfile.Rename("publish", tmp, string(d))
}

// Manifest reads what was started. An unreadable one is class Unknown: nothing
// about the run may be concluded from it, and it is never replaced.
func (d Dir) Manifest() (Manifest, error) {
	var m Manifest
	if err := d.readManifest(&m, &m.Run, &m.Session, &m.Provider); err != nil {
		return Manifest{}, err
	}
	return m, nil
}

// Worktree is Manifest for a list: only the work tree is kept.
func (d Dir) Worktree() (string, error) {
	var m struct{ Run, Session, Provider, Worktree string }
	err := d.readManifest(&m, &m.Run, &m.Session, &m.Provider)
	return m.Worktree, err
}

// readManifest reads into v, of whose fields those needed must then say something.
func (d Dir) readManifest(v any, needed ...*string) error {
	err := atomicfile.ReadJSON(d.Path("manifest.json"), Schema, v)
	if err == nil && slices.ContainsFunc(needed, func(s *string) bool { return *s == "" }) {
		err = fmt.Errorf("cannot read %s: run, session or provider is missing", d.Path("manifest.json"))
	}
	if err != nil {
		return session.Errorf(session.Unknown, "%w", err)
	}
	return nil
}

// PromptSent reports whether the opening request of the run went out, wholly or in
// part.
func (d Dir) PromptSent() (bool, error) {
	_, err := os.Lstat(d.Path("prompt-sent"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// MarkPromptSent records, before its first byte goes out, that the opening request
// is being sent. If it was marked before, the error wraps fs.ErrExist.
func (d Dir) MarkPromptSent() error {
	return atomicfile.Create("prompt-sent", d.Path("prompt-sent"), nil)
}
