package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"berth/internal/control"
	"berth/internal/session"
)

type restartOptions struct {
	fresh   bool
	timeout time.Duration
}

func restartVerb() *verb {
	var o restartOptions
	return &verb{
		Name: "restart", Args: "ID…", Group: groupSteer,
		Short: "End the agent and resume the same conversation",
		Long: "Checks first that the conversation can be resumed, then ends the agent and everything it runs, and starts it again on the same conversation. " +
			"With --fresh it starts a new conversation instead; the old run stays as history.",
		Examples: []string{"berth restart 7k2m", "berth restart 7k2m --fresh"},
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "fresh", Usage: "start a new conversation", Destination: &o.fresh},
			&cli.DurationFlag{Name: "ready-timeout", Usage: "wait `TIME` for it to be resumable", Value: 30 * time.Second, Destination: &o.timeout},
			jsonFlag(),
		},
		Takes: takes{min: 1, max: many, what: "a session ID", find: "berth list"}, Complete: sessionIDs,
		Run: func(ctx context.Context, env *Env, _ *cli.Context) error { return runRestart(ctx, env, o) },
	}
}

func runRestart(ctx context.Context, env *Env, o restartOptions) error {
	return withHome(ctx, env, "restart", func(c *control.Control) error {
		docs := []session.Record{}
		var errs []error
		for _, ref := range env.Args {
			r, err := restartOne(ctx, env, c, ref, o)
			if err != nil {
				errs = append(errs, err)
			}
			if r.ID != "" {
				docs = append(docs, r)
			}
		}
		if env.JSON && (len(docs) > 0 || len(errs) == 0) {
			if err := printJSON(env.Out, docs); err != nil {
				return err
			}
		}
		return worst(errs)
	})
}

func restartOne(ctx context.Context, env *Env, c *control.Control, ref string, o restartOptions) (session.Record, error) {
	asked, id, err := c.Restart(ctx, ref, o.fresh)
	if err != nil {
		return session.Record{}, err
	}
	if asked {
		if !env.JSON {
			fmt.Fprintf(env.Out, "%s  asked for; this process may be ended with it\n", id)
		}
		return c.Show(ctx, id)
	}
	c.Screen(ctx, id)
	r, err := c.AwaitReady(ctx, id, o.timeout, false)
	if err == nil && !env.JSON {
		fmt.Fprintf(env.Out, "%s  restarted (%s)\n", id, howFar(r))
	}
	return r, err
}
