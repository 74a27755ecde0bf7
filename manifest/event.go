package manifest

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Event is one line of events.jsonl. Detail never holds a secret: no screen text,
// no environment, no prompt.
type Event struct {
	SchemaVersion int            `json:"schema_version"`
	At            string         `json:"at"` // RFC 3339 with nanoseconds
	Run           string         `json:"run"`
	Session       string         `json:"session"`
	Event         string         `json:"event"`
	Detail        map[string]any `json:"detail,omitempty"`
}

// AppendEvent adds e to the run's events in one write. A missing run directory is
// an error; nothing is made again.
func (d Dir) AppendEvent(e Event) error {
	e.SchemaVersion = Schema
	if e.At == "" {
		e.At = time.Now().UTC().Format(time.RFC3339Nano)
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(d.Path("events.jsonl"), os.O_WRONLY|os.O_APPEND|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return fmt.Errorf("cannot record an event: %w", err)
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		f.Close() //nolint:errcheck // the write error is the one to tell
		return fmt.Errorf("cannot record an event: %w", err)
	}
	return f.Close()
}
