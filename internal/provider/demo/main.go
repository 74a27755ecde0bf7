package demo

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

// Exit statuses that tell by which signal it went, as a shell would.
const (
	exitHangup     = 128 + int(syscall.SIGHUP)
	exitTerminated = 128 + int(syscall.SIGTERM)
)

// Main runs the agent on the terminal in and out until it ends, and returns its exit
// status. args are those after the command's name. It takes TERM, HUP and INT itself
// while it runs; the end of ctx counts as TERM. The process should end after it: the
// reader of in stays behind, blocked in its read.
func Main(ctx context.Context, args []string, in, out *os.File, getenv func(string) string) int {
	o, err := parse(args, getenv("DEMO_AGENT_FLAGS"), out)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2 // parse has told why
	case o.role != "":
		return play(ctx, o.role, out)
	case o.exitAtOnce >= 0:
		return complain(out, o.exitAtOnce, "exiting with %d at once, as asked", o.exitAtOnce)
	case !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())):
		return complain(out, 1, "this is a full-screen chat and needs a terminal for its input and output")
	}
	h, messages, err := open(o, getenv)
	if err != nil {
		return complain(out, 1, "%v", err)
	}
	signals := make(chan os.Signal, 8) // one of each kind, twice: the loop takes them between two frames
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGWINCH)
	defer signal.Stop(signals)
	a, err := newChat(o, h, messages, in, out, getenv)
	if err != nil {
		return complain(out, 1, "%v", err)
	}
	return a.run(ctx, signals)
}

func complain(out *os.File, status int, format string, args ...any) int {
	fmt.Fprintf(out, "demo-agent: "+format+"\n", args...)
	return status
}
