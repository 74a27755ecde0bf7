// Command berth keeps conversations with coding agents in durable sessions
// under tmux. Everything it can do is a verb of internal/cli.
package main

import (
	"context"
	"os"

	"berth/internal/cli"
)

func main() {
	os.Exit(cli.Main(context.Background(), cli.System{
		Args:    os.Args,
		Getenv:  os.Getenv,
		Environ: os.Environ(),
		Stdin:   os.Stdin,
		Stdout:  os.Stdout,
		Stderr:  os.Stderr,
	}))
}
