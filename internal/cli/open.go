package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"berth/internal/control"
	"berth/internal/host"
	"berth/internal/session"
)

type openOptions struct{ fresh, exitStatus bool }

func openVerb() *verb {
	var o openOptions
	return &verb{
		Name: "open", Aliases: []string{"connect"}, Args: "ID", Group: groupStart,
		Short: "Join a conversation in this terminal",
		Long: "Joins the agent where it runs, or starts it and resumes the conversation where it does not. " +
			"ctrl-\\ leaves; the agent runs on. A session that is held by another terminal, or by somebody attached to its tmux pane, is refused. " +
			"With --json nothing is started: the record is printed.",
		Examples: []string{"berth open 7k2m", "berth open 7k2m --exit-status"},
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "fresh", Usage: "start a new conversation if no agent runs", Destination: &o.fresh},
			&cli.BoolFlag{Name: "exit-status", Usage: "exit with the agent's status", Destination: &o.exitStatus},
			jsonFlag(),
		},
		Takes: takes{min: 1, max: 1, what: "a session ID", find: "berth list"}, Complete: sessionIDs,
		Run: func(ctx context.Context, env *Env, _ *cli.Context) error { return runOpen(ctx, env, o) },
	}
}

func runOpen(ctx context.Context, env *Env, o openOptions) error {
	return withHome(ctx, env, "open", func(c *control.Control) error {
		if env.JSON {
			r, err := c.Show(ctx, env.Args[0])
			if err != nil {
				return err
			}
			return printJSON(env.Out, r)
		}
		in, out, ok := env.Terminal()
		if !ok {
			return session.Errorf(session.Usage, "open needs a terminal").WithHint("berth show %s   # or: berth restart %[1]s", env.Args[0])
		}
		id, _, err := c.OpenHere(ctx, env.Args[0], terminalSize(env), o.fresh)
		if err != nil {
			return err
		}
		go c.Screen(ctx, id)
		return hostHere(ctx, env, c, id, in, out, o.exitStatus)
	})
}

// hostHere joins the terminal to a session and says, when it is over, how.
func hostHere(ctx context.Context, env *Env, c *control.Control, id string, in, out *os.File, pass bool) error {
	res, err := c.Host(ctx, id, in, out, nil)
	if err != nil {
		return err
	}
	switch res.Why {
	case host.Detached:
		fmt.Fprintf(env.Err, "[left %s; the agent runs on. berth open %s joins it again]\n", id, id[:8])
	case host.Over:
		fmt.Fprintf(env.Err, "[%s: the agent ended: %s. berth open %s resumes it]\n", id, visible(res.Ending.Message), id[:8])
		if pass {
			return status(res.Ending.Code)
		}
	}
	return nil
}
