package launcher

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"berth/internal/home"
	"berth/internal/protocol"
	"berth/internal/provider"
	"berth/manifest"
)

// Spec is everything a supervisor needs to start its client and, later, the next
// one of the run. It travels through a pipe and lives in memory only: it holds the
// environment and the opening request.
type Spec struct {
	Home    home.Home `json:"home"`
	Run     string    `json:"run"`
	Session string    `json:"session"`
	Attempt int       `json:"attempt"` // the how manieth client of the run this is, from 1

	Provider provider.Provider `json:"provider"`
	Model    string            `json:"model"`
	NativeID string            `json:"native_id"` // known before the start: chosen or resumed
	Resume   bool              `json:"resume"`
	Client   Command           `json:"client"`
	Prompt   []byte            `json:"prompt"` // the opening request to type; nil when there is none to send

	Spare    []string `json:"spare"`     // programs a stop leaves alone, by name
	KeepPane bool     `json:"keep_pane"` // a pane closed by hand does not end the client
}

// Dir is the run's directory.
func (s Spec) Dir() manifest.Dir { return manifest.Dir(s.Home.Run(s.Run)) }

// Command is a client's process before it exists.
type Command struct {
	Path  string        `json:"path"` // absolute
	Argv  []string      `json:"argv"`
	Env   []string      `json:"env"`
	Cwd   string        `json:"cwd"`   // absolute
	Umask int           `json:"umask"` // of the command that asked
	Size  protocol.Size `json:"size"`  // of the terminal at the start
}

// endMark is the last line of a spec. Without it the writer died half-way, and the
// reader does nothing.
const endMark = "\nend of spec\n"

// errNoSpec says that the writer ended before the end mark.
var errNoSpec = errors.New("the launcher went away before the spec was whole")

// write sends v and the end mark.
func write(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, endMark...))
	return err
}

// read reads v up to the end of r.
func read(r io.Reader, v any) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("cannot read the spec: %w", err)
	}
	b, ok := bytes.CutSuffix(b, []byte(endMark))
	if !ok {
		return errNoSpec
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("cannot read the spec: %w", err)
	}
	return nil
}

// Fill works out the client's argv and program from the provider: to resume where
// Resume is set, else to start. Directory and environment must be there already.
// Nothing is started; an error says what is missing.
func (s *Spec) Fill() error {
	argv, err := s.Provider.StartArgv(s.Values())
	if s.Resume {
		argv, err = s.Provider.ResumeArgv(s.Values())
	}
	if err != nil {
		return err
	}
	s.Client.Argv = argv
	s.Client.Path, err = provider.Executable(argv[0], s.Client.Cwd, Getenv(s.Client.Env, "PATH"))
	return err
}
