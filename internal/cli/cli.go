package cli

import (
	"context"
	"io"

	"golang.org/x/sys/unix"
)

// System is what main hands over: everything the command line touches of the
// process it runs in. All fields are required; Args[0] is the program.
type System struct {
	Args           []string
	Getenv         func(string) string
	Environ        []string // what Getenv looks in: sessions inherit it
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	umask int // as berth was called
}

// Main runs one command line and returns the status to exit with
// (docs/exit-codes.md). It prints errors itself.
func Main(ctx context.Context, sys System) int {
	words := sys.Args[1:]
	if len(words) > 0 {
		if run := plain(words[0]); run != nil {
			env := newEnv(sys, false)
			env.Args = words[1:]
			return env.finish(ctx, run(ctx, env))
		}
	}
	// Whatever berth makes is private; the umask it was called with is its clients'.
	umask := unix.Umask(0o077)
	defer unix.Umask(umask)
	sys.umask = umask
	ctx, stop := interruptible(ctx)
	defer stop()
	return run(ctx, sys, tree(verbs()), words)
}

// run runs words, the command line without the program, on the tree of root.
func run(ctx context.Context, sys System, root *verb, words []string) int {
	l := scan(root, words)
	env := newEnv(sys, l.asks("json"))
	switch {
	case l.asks("help"):
		return env.finish(ctx, printHelp(env.Out, l.verb()))
	case l.asks("version"):
		return run(ctx, sys, root, []string{"version"})
	case l.err != nil:
		return env.finish(ctx, l.err)
	}
	return env.finish(ctx, build(root, env).RunContext(ctx, l.ordered()))
}
