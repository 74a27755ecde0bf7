package cli

import (
	"context"
	"time"

	"github.com/urfave/cli/v2"

	"berth/internal/control"
	"berth/internal/session"
)

type waitOptions struct {
	what    string
	timeout time.Duration
}

func waitVerb() *verb {
	var o waitOptions
	return &verb{
		Name: "wait", Args: "ID", Group: groupLook,
		Short: "Wait until an agent is idle, or asks for you, or has ended",
		Long: "Ends with 0 when the session is what it is waited for to be, and at once if it is: idle, its agent takes a message; attention, it waits for a person; " +
			"resumable; exit, its agent has ended. Ends with 8 when the time is up, and with 1 when it has ended first.",
		Examples: []string{"berth wait 7k2m", "berth wait 7k2m --for attention --timeout 1h --json"},
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "for", Usage: "wait until it is `WHAT`: idle (the default), attention, resumable or exit", Value: control.ForIdle, Destination: &o.what},
			&cli.DurationFlag{Name: "timeout", Usage: "wait at most `TIME` (no limit)", Destination: &o.timeout},
			jsonFlag(),
		},
		Takes: takes{min: 1, max: 1, what: "a session ID", find: "berth list"}, Complete: sessionIDs,
		Run: func(ctx context.Context, env *Env, _ *cli.Context) error { return runWait(ctx, env, o) },
	}
}

func runWait(ctx context.Context, env *Env, o waitOptions) error {
	if err := control.CheckWait(o.what); err != nil {
		return err
	}
	if err := notNegative("timeout", o.timeout); err != nil {
		return err
	}
	return withHome(ctx, env, "wait", func(c *control.Control) error {
		r, err := waitFor(ctx, c, env.Args[0], o)
		if env.JSON && r.ID != "" {
			if perr := printJSON(env.Out, r); perr != nil {
				return perr
			}
		}
		return err
	})
}

func waitFor(ctx context.Context, c *control.Control, ref string, o waitOptions) (session.Record, error) {
	if o.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.timeout)
		defer cancel()
	}
	return c.Wait(ctx, ref, o.what)
}
