package demo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"berth/internal/provider"
	"berth/internal/session"
)

// The speakers of a conversation, in the history and on the screen.
const (
	fromUser  = "user"
	fromAgent = "assistant"
	fromNote  = "note" // said by the program about itself; never recorded
)

// message is one line of a history.
type message struct {
	Role string    `json:"role"`
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

// header is the first line of a history.
type header struct {
	ID      string    `json:"id"`
	Cwd     string    `json:"cwd"`
	Created time.Time `json:"created"`
}

// history is one conversation on disk: JSON lines, appended and synced one by one.
// Its file is made with the first message, as those of real agents are.
type history struct {
	id, path, cwd string
	begun         bool // the file exists
	torn          bool // its last line has no end
	off           bool // --no-history
}

// dir is where the histories of this environment are.
func dir(getenv func(string) string) string {
	if d := getenv("DEMO_AGENT_HOME"); d != "" {
		return d
	}
	if d := getenv("BERTH_HOME"); d != "" {
		return filepath.Join(d, "demo")
	}
	return filepath.Join(getenv("HOME"), ".local", "share", "demo-agent")
}

// newHistory is the conversation id without a message yet.
func newHistory(id, cwd string, o options, getenv func(string) string) *history {
	return &history{id: id, path: filepath.Join(dir(getenv), id+".jsonl"), cwd: cwd, off: o.noHistory}
}

// open finds or begins the conversation the options name.
func open(o options, getenv func(string) string) (*history, []message, error) {
	id := o.resume
	if id == "" {
		id = o.sessionID
	}
	if id == "" {
		id = provider.NewNativeID()
	}
	if !session.ValidName(id) {
		return nil, nil, fmt.Errorf("%q cannot be the id of a conversation", id)
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, nil, err
	}
	h := newHistory(id, cwd, o, getenv)
	data, err := os.ReadFile(h.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && o.resume != "":
		return nil, nil, fmt.Errorf("no conversation %s in %s", id, filepath.Dir(h.path))
	case errors.Is(err, fs.ErrNotExist):
		return h, nil, nil
	case err != nil:
		return nil, nil, err
	case o.resume == "":
		return nil, nil, fmt.Errorf("the id %s is in use already; --resume=%s takes that conversation up", id, id)
	}
	if o.dieOnResume {
		died, err := os.OpenFile(h.path+".died", os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			return nil, nil, errors.Join(errors.New("dying on the first resume, as asked"), died.Close())
		}
	}
	h.begun, h.torn = true, len(data) > 0 && data[len(data)-1] != '\n'
	return h, decode(data), nil
}

// decode returns the messages of a history. Lines that are none are passed over: the
// header, and what a crash left half written.
func decode(data []byte) []message {
	var out []message
	for line := range bytes.Lines(data) {
		var m message
		if json.Unmarshal(line, &m) == nil && (m.Role == fromUser || m.Role == fromAgent) {
			out = append(out, m)
		}
	}
	return out
}

// add records one message, durably; first is true if that began the history.
func (h *history) add(role, text string) (first bool, err error) {
	if h.off {
		return false, nil
	}
	now := time.Now().UTC()
	var lines bytes.Buffer
	enc := json.NewEncoder(&lines)
	if h.torn {
		lines.WriteByte('\n')
	}
	if !h.begun {
		if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
			return false, err
		}
		if err := enc.Encode(header{h.id, h.cwd, now}); err != nil {
			return false, err
		}
	}
	if err := enc.Encode(message{role, text, now}); err != nil {
		return false, err
	}
	f, err := os.OpenFile(h.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return false, err
	}
	_, err = f.Write(lines.Bytes()) // one write: a second client appends whole lines too
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return false, err
	}
	first = !h.begun
	h.begun, h.torn = true, false
	if first {
		return true, syncDir(filepath.Dir(h.path))
	}
	return false, nil
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
