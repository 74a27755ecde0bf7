package manifest

import (
	"errors"
	"io/fs"
	"slices"
	"time"

	"berth/internal/atomicfile"
)

// Native is the provider's own name of the conversation: chosen up front or
// announced, never guessed. It is written by the run's supervisor.
type Native struct {
	SchemaVersion int          `json:"schema_version"`
	Provider      string       `json:"provider"`
	NativeID      string       `json:"native_id"`
	Account       string       `json:"account,omitempty"`
	Source        string       `json:"source"`   // "chosen", "agent", "hook", "file"
	Recorded      bool         `json:"recorded"` // the provider has a history to resume
	HistoryPath   string       `json:"history_path,omitempty"`
	ObservedAt    string       `json:"observed_at"`
	Superseded    []Superseded `json:"superseded,omitempty"` // oldest first
}

// Superseded is an id the conversation had before.
type Superseded struct {
	NativeID   string `json:"native_id"`
	ObservedAt string `json:"observed_at"`
}

// Had reports whether the conversation has or had this id.
func (n Native) Had(id string) bool {
	return n.NativeID == id || slices.ContainsFunc(n.Superseded, func(s Superseded) bool { return s.NativeID == id })
}

// Native reads the native id; a run without one yields the zero value and no error.
func (d Dir) Native() (Native, error) {
	var n Native
	err := atomicfile.ReadJSON(d.Path("native.json"), Schema, &n)
	if errors.Is(err, fs.ErrNotExist) {
		return Native{}, nil
	}
	return n, err
}

// WriteNative replaces the native id's record.
func (d Dir) WriteNative(n Native) error {
	n.SchemaVersion = Schema
	return atomicfile.WriteJSON("native", d.Path("native.json"), n)
}

// Merge is n after announcement a: a new id supersedes the old one, and what was
// recorded of the old one does not carry over.
func (n Native) Merge(a Announcement) Native {
	if a.NativeID != "" && a.NativeID != n.NativeID {
		if n.NativeID != "" {
			n.Superseded = append(n.Superseded[:len(n.Superseded):len(n.Superseded)], Superseded{n.NativeID, n.ObservedAt})
		}
		n.NativeID, n.Recorded, n.HistoryPath = a.NativeID, false, ""
		n.Source, n.ObservedAt = a.Source, a.At
	}
	if a.NativeID != "" || n.NativeID != "" {
		n.Recorded = n.Recorded || a.Recorded
		if a.HistoryPath != "" {
			n.HistoryPath = a.HistoryPath
		}
		if a.Account != "" {
			n.Account = a.Account
		}
	}
	if n.ObservedAt == "" {
		n.ObservedAt = time.Now().UTC().Format(time.RFC3339Nano)
	}
	return n
}
