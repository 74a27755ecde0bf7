package launcher

import (
	"bytes"
	"encoding/gob"
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
	Home    home.Home
	Run     string
	Session string
	Attempt int // the how manieth client of the run this is, from 1

	Provider provider.Provider
	Model    string
	NativeID string // known before the start: chosen or resumed
	Resume   bool
	Client   Command
	Prompt   []byte // the opening request to type; nil when there is none to send
	Opening  []byte // the session's opening request, sent or not: see Mask

	PromptInArgv bool // the opening request is in Client.Argv: it goes out when the gate opens

	Restarts manifest.Restarts // the restart policy, with counters that go on

	Spare    []string // programs a stop leaves alone, by name
	KeepPane bool     // a pane closed by hand does not end the client
}

// Dir is the run's directory.
func (s Spec) Dir() manifest.Dir { return manifest.Dir(s.Home.Run(s.Run)) }

// Command is a client's process before it exists.
type Command struct {
	Path  string // absolute
	Argv  []string
	Env   []string
	Cwd   string        // absolute
	Umask int           // of the command that asked
	Size  protocol.Size // of the terminal at the start
}

// endMark is the last line of a spec. Without it the writer died half-way, and the
// reader does nothing.
const endMark = "\nend of spec\n"

// errNoSpec says that the writer ended before the end mark.
var errNoSpec = errors.New("the launcher went away before the spec was whole")

// write sends v and the end mark. Both ends are the same program, and arguments,
// variables and directories are bytes: gob leaves them as they are, where JSON would
// replace what is not UTF-8.
func write(w io.Writer, v any) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(v); err != nil {
		return err
	}
	b.WriteString(endMark)
	_, err := b.WriteTo(w)
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
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(v); err != nil {
		return fmt.Errorf("cannot read the spec: %w", err)
	}
	return nil
}

// Continue says how the run goes on from what is known of its conversation: it is
// resumed if it was recorded; one that never was is started under the same id, where
// that was ours to choose. Otherwise it cannot go on in this run.
func (s *Spec) Continue(n manifest.Native) error {
	recorded := n.Recorded || s.Provider.History == ""
	switch {
	case n.NativeID != "" && recorded && s.Provider.CanResume():
		s.NativeID, s.Resume = n.NativeID, true
	case n.NativeID != "" && s.Provider.NativeID == provider.NativeChosen:
		s.NativeID, s.Resume = n.NativeID, false
	case n.NativeID == "":
		return fmt.Errorf("run %s never announced a native id", s.Run)
	default:
		return fmt.Errorf("the conversation %s was never recorded", n.NativeID)
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
	s.Client.Path, err = s.Provider.Executable(argv[0], s.Client.Cwd, Getenv(s.Client.Env, "PATH"))
	return err
}
