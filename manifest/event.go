package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"berth/internal/point"

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

// EventServerLost is what each session notes when its tmux server is gone; Detail
// says which, as "server".
const EventServerLost = "tmux server lost"

// AppendEvent adds e to the run's events in one write. A missing run directory is
// an error; nothing is made again. A line that a full disk cut short stays as it is
// and spoils no other.
func (d Dir) AppendEvent(e Event) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("cannot record an event in %s: %w", d.Path("events.jsonl"), err)
		}
	}()
	e.SchemaVersion = Schema
	if e.At == "" {
		e.At = time.Now().UTC().Format(time.RFC3339Nano)
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := point.Fail("event"); err != nil {
		return err
	}
	f, err := os.OpenFile(d.Path("events.jsonl"), os.O_RDWR|os.O_APPEND|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if torn(f) {
		line = append([]byte{'\n'}, line...)
	}
	_, err = f.Write(append(line, '\n'))
	return err
}

// torn reports whether the last line of f has no end.
func torn(f *os.File) bool {
	st, err := f.Stat()
	if err != nil || st.Size() == 0 {
		return false
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], st.Size()-1)
	return err == nil && last[0] != '\n'
}
