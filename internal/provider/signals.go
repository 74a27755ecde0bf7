package provider

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// RegistryEntry is what a client says of itself in its Registry file.
type RegistryEntry struct {
	NativeID   string `json:"sessionId"`
	Status     string `json:"status"` // "idle", "busy", "waiting"; "" not yet
	WaitingFor string `json:"waitingFor"`
	Changed    int64  `json:"statusUpdatedAt"` // when Status last changed, in milliseconds since the epoch

	PID   int    `json:"pid"`
	Start string `json:"procStart"` // its kernel start time, in clock ticks
}

// RegistryPath is the file of the client with v.PID; "" if the adapter names none.
func (p Provider) RegistryPath(v Values, getenv func(string) string) (string, error) {
	if p.Registry == "" {
		return "", nil
	}
	return expandPath(p.Registry, v, getenv)
}

// ReadRegistry reads what the client with this pid and start time says of itself. One
// that says nothing yields the zero value; so does a file that another process with
// that pid has left behind.
func ReadRegistry(path string, pid int, start uint64) (RegistryEntry, error) {
	var e RegistryEntry
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return RegistryEntry{}, fmt.Errorf("cannot read %s: %w", path, err)
	}
	if e.PID != pid || e.Start != fmt.Sprint(start) {
		return RegistryEntry{}, nil
	}
	return e, nil
}

// FindHistory returns the one history file at path, a path of HistoryPath, that has a
// conversation in it; "" if there is none yet, or more than one.
func (p Provider) FindHistory(path, nativeID string) string {
	paths := []string{path}
	if strings.Contains(path, "*") {
		paths, _ = filepath.Glob(path)
	}
	var found string
	for _, path := range paths {
		if !p.holdsConversation(path, nativeID) {
			continue
		}
		if found != "" {
			return ""
		}
		found = path
	}
	return found
}

// historyHead is how much of a history is searched for a conversation, in bytes.
const historyHead = 1 << 20

func (p Provider) holdsConversation(path, nativeID string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // read only
	if p.Recorded == "" {
		st, err := f.Stat()
		return err == nil && st.Size() > 0
	}
	re, err := regexp.Compile(strings.ReplaceAll(p.Recorded, "{native_id}", regexp.QuoteMeta(nativeID)))
	return err == nil && re.MatchReader(bufio.NewReader(io.LimitReader(f, historyHead)))
}

// Executable finds the program of the client: that of argv0, or, where the adapter
// knows what this would only run, that.
func (p Provider) Executable(argv0, cwd, pathEnv string) (string, error) {
	path, err := Executable(argv0, cwd, pathEnv)
	if err != nil || len(p.Native) == 0 {
		return path, err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return path, nil // it can be run all the same
	}
	for _, pattern := range p.Native {
		if found, _ := filepath.Glob(filepath.Join(notPattern.Replace(filepath.Dir(real)), pattern)); len(found) == 1 && runnable(found[0]) == nil {
			return found[0], nil
		}
	}
	return path, nil
}
