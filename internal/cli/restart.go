package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"berth/internal/control"
	"berth/internal/session"
)

type restartOptions struct {
	fresh, interrupted bool
	timeout            time.Duration
}

func restartVerb() *verb {
	var o restartOptions
	return &verb{
		Name: "restart", Args: "{ID… | --interrupted}", Group: groupSteer,
		Short: "End the agent and resume the same conversation",
		Long: "Checks first that the conversation can be resumed, then ends the agent and everything it runs, and starts it again on the same conversation. " +
			"With --fresh it starts a new conversation instead; the old run stays as history. " +
			"After a crash or a reboot --interrupted brings back every session that nobody stopped.",
		Examples: []string{"berth restart 7k2m", "berth restart --interrupted"},
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "fresh", Usage: "start a new conversation; the opening request is typed again", Destination: &o.fresh},
			&cli.BoolFlag{Name: "interrupted", Usage: "all that were ended by a crash or a reboot", Destination: &o.interrupted},
			&cli.DurationFlag{Name: "ready-timeout", Usage: "wait `TIME` (30s) for it to be resumable", Value: 30 * time.Second, Destination: &o.timeout},
			jsonFlag(),
		},
		Takes: takes{max: many, what: "a session ID", find: "berth list"}, Complete: sessionIDs,
		Run: func(ctx context.Context, env *Env, _ *cli.Context) error { return runRestart(ctx, env, o) },
	}
}

func runRestart(ctx context.Context, env *Env, o restartOptions) error {
	if o.interrupted == (len(env.Args) > 0) {
		return session.Errorf(session.Usage, "restart needs session IDs, or --interrupted").WithHint("berth list")
	}
	if err := notNegative("ready-timeout", o.timeout); err != nil {
		return err
	}
	return withHome(ctx, env, "restart", func(c *control.Control) error {
		refs := env.Args
		if o.interrupted {
			var err error
			if refs, err = c.Interrupted(ctx); err != nil {
				return err
			}
		}
		records, errs := make([]session.Record, len(refs)), make([]error, len(refs))
		forEach(len(refs), func(i int) { records[i], errs[i] = restartOne(ctx, env, c, refs[i], o) })
		docs := slices.DeleteFunc(records, func(r session.Record) bool { return r.ID == "" })
		if env.JSON && (len(docs) > 0 || worst(errs) == nil) {
			if err := printJSON(env.Out, docs); err != nil {
				return err
			}
		}
		return worst(errs)
	})
}

func restartOne(ctx context.Context, env *Env, c *control.Control, ref string, o restartOptions) (session.Record, error) {
	asked, id, err := c.Restart(ctx, ref, o.fresh, o.interrupted)
	if errors.Is(err, control.ErrMeanwhile) {
		if !env.JSON {
			fmt.Fprintf(env.Out, "%s  left alone: %v\n", id, err)
		}
		return session.Record{}, nil
	}
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
