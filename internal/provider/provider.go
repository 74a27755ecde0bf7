package provider

import (
	"crypto/rand"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// How a provider's native id becomes known (Provider.NativeID).
const (
	NativeNone      = "none"      // there is none: the conversation cannot be resumed
	NativeChosen    = "chosen"    // berth makes one up front and passes it to the start
	NativeAnnounced = "announced" // the agent, or a hook it runs, announces it (berth hook)
	NativeFile      = "file:"     // prefix of a path; the agent writes the id as its first line
)

// When a provider takes input (Provider.Ready).
const (
	ReadyStart     = "start"     // as soon as it runs
	ReadyAnnounced = "announced" // when it says so
	ReadyOutput    = "output:"   // prefix of a regular expression its output has to match
)

// How the opening request reaches the agent (Provider.Prompt).
const (
	PromptSend = "send" // typed into its terminal once it is ready
	PromptArgv = "argv" // as the start's {prompt} argument; others can read it in the process list
)

// HistoryAnnounced, as Provider.History, means that the agent or its hook announces
// where the history is, or that the conversation is recorded.
const HistoryAnnounced = "announced"

// Provider is the adapter of one agent. The zero value is of no use; Load makes them.
type Provider struct {
	Name string `json:"name"`

	// Templates of the argv, executable first. See Values for the placeholders.
	Start  []string `json:"start"`
	Resume []string `json:"resume,omitempty"` // empty: it cannot resume

	NativeID string `json:"native_id"`         // NativeNone, NativeChosen, NativeAnnounced, or NativeFile and a path template
	History  string `json:"history,omitempty"` // a path template, HistoryAnnounced, or "": the id alone suffices to resume
	Ready    string `json:"ready"`             // ReadyStart, ReadyAnnounced, or ReadyOutput and an RE2 expression
	Prompt   string `json:"prompt"`            // PromptSend or PromptArgv

	// The environment. Identity names the variables that decide whose conversation
	// it is (a configuration directory, an account): their values are kept in the
	// manifest. Scrub removes names; one that ends in * removes all that begin so.
	Identity []string          `json:"identity,omitempty"`
	Env      map[string]string `json:"env,omitempty"`
	Scrub    []string          `json:"scrub,omitempty"`

	Stop   Stop   `json:"stop"`
	Submit Submit `json:"submit"`

	// What only the adapters of agents that berth knows have (agents).
	Tried    string   `json:"tried,omitempty"`     // the newest version it was tried with
	Args     []string `json:"args,omitempty"`      // a person's own, after those of Start or Resume
	Native   []string `json:"native,omitempty"`    // where the program lies that the one found would only run; see Executable
	Registry string   `json:"registry,omitempty"`  // a path template with {pid}: what a live client says of itself; see ReadRegistry
	HeldOpen string   `json:"held_open,omitempty"` // an RE2 expression: of a file the client holds open, group 1 is the native id
	// How long it has to be idle at first before it is ready, and how long when it takes
	// up a conversation, where that is longer.
	Settle        time.Duration `json:"settle,omitempty"`
	SettleResumed time.Duration `json:"settle_resumed,omitempty"`

	LateID   bool   `json:"late_id,omitempty"`  // there is no native id before the first message
	Recorded string `json:"recorded,omitempty"` // an RE2 template that a history with a conversation in it matches; "": any that is not empty
	Signs    []Sign `json:"signs,omitempty"`    // how its turns show where it does not announce them
	// StartFails is an RE2 expression: of the output of a start that failed for a reason that
	// passes, before anything was said. It is tried again, twice.
	StartFails string `json:"start_fails,omitempty"`
	Files      []File `json:"files,omitempty"` // written into the run directory for it before each start
}

// What a Sign is looked for in.
const (
	OnTitle  = "title"  // the title of its window
	OnStatus = "status" // what it said by OSC 7501
	OnScreen = "screen" // the text on its screen; only until the agent has been ready once
)

// Sign is a state of the agent's turn, by what it shows.
type Sign struct {
	On    string
	Match string // RE2; on a screen, of one line
	Turn  string // a turn state of package manifest
	For   string // what it waits for
	Ready bool   // it takes input then

	Elsewhere bool // it waits for another process that has the conversation
}

// Elsewhere reports whether what the agent waits for is another process that has the
// conversation.
func (p Provider) Elsewhere(waitingFor string) bool {
	return slices.ContainsFunc(p.Signs, func(s Sign) bool { return s.Elsewhere && s.For == waitingFor })
}

// ShowsReady reports whether it is seen by itself when the agent takes input.
func (p Provider) ShowsReady() bool { return p.Registry != "" || len(p.Signs) > 0 }

// File is a file that an agent is told of by a variable.
type File struct {
	Name    string // in the run directory
	Content string
	Env     string // the variable
	Value   string // of the variable; {file} is the file's path
	Unless  string // a file whose place it would take: where that is there, this is left out
}

// TellsTurns reports whether the state of the agent's turns becomes known.
func (p Provider) TellsTurns() bool {
	return p.Registry != "" || len(p.Signs) > 0 || p.Ready == ReadyAnnounced
}

// Stop is the polite way to end an agent.
type Stop struct {
	Keys   string `json:"keys,omitempty"` // bytes typed first; "" types nothing
	Signal string `json:"signal"`         // name without SIG, one of the keys of signals
}

// Submit is how a message that was pasted is sent off.
type Submit struct {
	Keys  string        `json:"keys"`            // bytes typed after the paste
	Delay time.Duration `json:"delay,omitempty"` // between the paste and Keys
	Again int           `json:"again,omitempty"` // how often Keys may be typed again while the agent stays idle
}

// signals are the polite ones an adapter may name.
var signals = map[string]syscall.Signal{
	"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP, "QUIT": syscall.SIGQUIT,
	"USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2,
}

// Number is the signal to send: SIGTERM for a name it does not know.
func (s Stop) Number() syscall.Signal {
	if n, ok := signals[s.Signal]; ok {
		return n
	}
	return syscall.SIGTERM
}

// CanResume reports whether a conversation can be taken up again by its native id.
func (p Provider) CanResume() bool { return p.NativeID != NativeNone && len(p.Resume) > 0 }

// PromptInArgv reports whether the command that starts a conversation, or the one
// that resumes it, has a place for the opening request.
func (p Provider) PromptInArgv(resume bool) bool {
	if resume {
		return anyMentions(p.Resume, "prompt")
	}
	return anyMentions(p.Start, "prompt")
}

// StartArgv is the argv of a new conversation.
func (p Provider) StartArgv(v Values) ([]string, error) { return p.argv(p.Start, v) }

// ResumeArgv is the argv that resumes v.NativeID. It is an error if the provider
// cannot resume or the template needs an id and v has none.
func (p Provider) ResumeArgv(v Values) ([]string, error) {
	if !p.CanResume() {
		return nil, fmt.Errorf("provider %s cannot resume a conversation", p.Name)
	}
	return p.argv(p.Resume, v)
}

func (p Provider) argv(tmpl []string, v Values) ([]string, error) {
	argv, err := expandArgv(tmpl, v)
	return append(argv, p.Args...), err
}

// HistoryPath is where the native history of v.NativeID lies, absolute; "" if the
// adapter names no path. A leading ~/ is getenv's HOME, {env:NAME} its variable,
// {env:NAME|PATH} PATH where that is not set. A path with a * is a pattern, in which
// whatever was filled in stands for itself.
func (p Provider) HistoryPath(v Values, getenv func(string) string) (string, error) {
	if p.History == "" || p.History == HistoryAnnounced {
		return "", nil
	}
	return expandPath(p.History, v, getenv)
}

// NativeFile is the file whose first line is the native id, absolute; "" if the
// provider makes its id known in another way.
func (p Provider) NativeFile(v Values) (string, error) {
	tmpl, ok := strings.CutPrefix(p.NativeID, NativeFile)
	if !ok {
		return "", nil
	}
	return expandPath(tmpl, v, func(string) string { return "" })
}

// ReadyPattern is what the output has to match before the agent takes input; nil
// if its output does not tell.
func (p Provider) ReadyPattern() (*regexp.Regexp, error) {
	expr, ok := strings.CutPrefix(p.Ready, ReadyOutput)
	if !ok {
		return nil, nil
	}
	return regexp.Compile(expr)
}

// Environ is base ("NAME=value" strings) as the agent gets it: without the scrubbed
// names, then with Env. A pattern with * spares the names of Identity.
func (p Provider) Environ(base []string) []string {
	out := make([]string, 0, len(base)+len(p.Env))
	for _, kv := range base {
		name, _, _ := strings.Cut(kv, "=")
		if _, replaced := p.Env[name]; !replaced && !p.scrubs(name) {
			out = append(out, kv)
		}
	}
	for _, name := range sortedKeys(p.Env) {
		out = append(out, name+"="+p.Env[name])
	}
	return out
}

func (p Provider) scrubs(name string) bool {
	for _, s := range p.Scrub {
		prefix, pattern := strings.CutSuffix(s, "*")
		if s == name || pattern && strings.HasPrefix(name, prefix) && !slices.Contains(p.Identity, name) {
			return true
		}
	}
	return false
}

// NewNativeID makes a native id for a provider that lets berth choose: a random
// UUID (version 4), which is what agents that take one ask for.
func NewNativeID() string {
	var b [16]byte
	rand.Read(b[:]) //nolint:errcheck // crypto/rand.Read never fails since Go 1.24
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// absolute resolves path against dir.
func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
