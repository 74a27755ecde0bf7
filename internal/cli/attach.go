package cli

import (
	"context"

	"github.com/urfave/cli/v2"

	"berth/internal/control"
	"berth/internal/session"
	"berth/tmux"
)

func attachVerb() *verb {
	var readOnly, move bool
	return &verb{
		Name: "attach", Args: "ID", Group: groupLook,
		Short: "Look at a session in tmux",
		Long: "Attaches this terminal to the session's tmux session, or switches the tmux client you are in to it. " +
			"Leave it as any tmux session: prefix, then d.",
		Examples: []string{"berth attach 7k2m", "berth attach 7k2m --read-only"},
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "read-only", Usage: "do not type", Destination: &readOnly},
			&cli.BoolFlag{Name: "move", Usage: "take the keyboard there from the terminal that has it", Destination: &move},
		},
		Takes: takes{min: 1, max: 1, what: "a session ID", find: "berth list"}, Complete: sessionIDs,
		Run: func(ctx context.Context, env *Env, _ *cli.Context) error {
			var argv []string
			err := withHome(ctx, env, "attach", func(c *control.Control) (err error) {
				if readOnly && move {
					return session.Errorf(session.Usage, "--read-only does not type, so it takes no keyboard").WithHint("leave one of them out")
				}
				if _, _, ok := env.Terminal(); !ok {
					return session.Errorf(session.Usage, "attach needs a terminal").WithHint("berth capture %s", env.Args[0])
				}
				argv, err = c.Attach(ctx, env.Args[0], readOnly, move)
				return err
			})
			if err != nil || argv == nil {
				return err
			}
			return become(env, argv)
		},
	}
}

func captureVerb() *verb {
	var o tmux.CaptureOptions
	return &verb{
		Name: "capture", Args: "ID", Group: groupLook,
		Short:    "Print a session's screen",
		Long:     "Prints what is on the agent's screen now, or was when its client failed.",
		Examples: []string{"berth capture 7k2m", "berth capture 7k2m --ansi --history 200"},
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "ansi", Usage: "with colours and attributes", Destination: &o.ANSI},
			&cli.IntFlag{Name: "history", Usage: "`N` lines from above the screen too", Destination: &o.HistoryLines},
		},
		Takes: takes{min: 1, max: 1, what: "a session ID", find: "berth list"}, Complete: sessionIDs,
		Run: func(ctx context.Context, env *Env, _ *cli.Context) error {
			if o.HistoryLines < 0 {
				return session.Errorf(session.Usage, "--history counts lines: it cannot be below 0")
			}
			return withHome(ctx, env, "capture", func(c *control.Control) error {
				text, err := c.Capture(ctx, env.Args[0], o)
				if err == nil {
					_, err = env.Out.Write(text)
				}
				return err
			})
		},
	}
}
