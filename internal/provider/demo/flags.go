package demo

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// options are what the command line and DEMO_AGENT_FLAGS say. All below model are
// ways to misbehave.
type options struct {
	sessionID string
	resume    string
	model     string
	role      string // of a child of the agent, see children.go

	late         time.Duration
	silent       bool
	noAnnounceID bool
	exitAtOnce   int // exit status, -1 for not at all
	ignoreTerm   bool
	children     bool
	flood        megabytes
	noHistory    bool
	dieOnResume  bool
	dialog       bool
	echoRaw      string
}

// megabytes is a flag that may stand without a value.
type megabytes int

const defaultFlood megabytes = 16

func (m *megabytes) String() string   { return strconv.Itoa(int(*m)) }
func (m *megabytes) IsBoolFlag() bool { return true }

func (m *megabytes) Set(s string) error {
	if s == "true" {
		*m = defaultFlood
		return nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return errors.New("not a number of megabytes")
	}
	*m = megabytes(n)
	return nil
}

// parse reads args; the space separated flags of the environment come first, so that
// args have the last word. What is wrong is written to out.
func parse(args []string, environment string, out io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("demo-agent", flag.ContinueOnError)
	f.SetOutput(out)
	f.StringVar(&o.sessionID, "session-id", "", "begin a conversation with this `id`")
	f.StringVar(&o.resume, "resume", "", "take up the conversation with this `id`")
	f.StringVar(&o.model, "model", "", "`name` shown beside the title")
	f.StringVar(&o.role, "role", "", "be one of the agent's children (`name`)")
	f.DurationVar(&o.late, "late", 0, "announce nothing for this `time`")
	f.BoolVar(&o.silent, "silent", false, "announce nothing ever")
	f.BoolVar(&o.noAnnounceID, "no-announce-id", false, "announce everything but the native id and history")
	f.IntVar(&o.exitAtOnce, "exit-at-once", -1, "exit with this `status` before anything else")
	f.BoolVar(&o.ignoreTerm, "ignore-term", false, "do nothing on TERM, HUP and INT")
	f.BoolVar(&o.children, "children", false, "start children of every kind (/children)")
	f.Var(&o.flood, "flood", "write so many `MB` to the terminal first (16 if none are given)")
	f.BoolVar(&o.noHistory, "no-history", false, "record nothing")
	f.BoolVar(&o.dieOnResume, "die-on-resume", false, "exit with 1 the first time it is resumed")
	f.BoolVar(&o.dialog, "dialog", false, "ask a question before it is ready; Enter means no")
	f.StringVar(&o.echoRaw, "echo-raw", "", "append every byte of input to this `file`, and do nothing else with it")
	if err := f.Parse(append(strings.Fields(environment), args...)); err != nil {
		return o, err
	}
	var err error
	switch {
	case f.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.sessionID != "" && o.resume != "":
		err = errors.New("--session-id begins a conversation and --resume takes one up: give one of them")
	}
	if err != nil {
		fmt.Fprintf(out, "demo-agent: %v\n", err)
	}
	return o, err
}
