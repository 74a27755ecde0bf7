package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"berth/internal/control"
	"berth/internal/registry"
	"berth/internal/session"
)

func stopVerb() *verb {
	var all bool
	return &verb{
		Name: "stop", Args: "{ID… | --all}", Group: groupSteer,
		Short: "End agents and everything they run",
		Long: "Asks the agent in its own way, then insists, and returns when no process of the session is left; says how many it ended. " +
			"The session stays and can be opened again. One that does not run is stopped already.",
		Examples: []string{"berth stop 7k2m", "berth stop --all --json"},
		Flags:    []cli.Flag{&cli.BoolFlag{Name: "all", Usage: "stop every session", Destination: &all}, jsonFlag()},
		Takes:    takes{max: many, what: "a session ID", find: "berth list"}, Complete: sessionIDs,
		Run: func(ctx context.Context, env *Env, _ *cli.Context) error { return runStop(ctx, env, all) },
	}
}

func stopClientVerb() *verb {
	return &verb{
		Name: "stop-client", Args: "RUN", Hidden: true,
		Short:    "End the client of a run",
		Long:     "As stop, for scripts that know the run: a run that is no longer its session's current one is refused.",
		Examples: []string{"berth stop-client 0m4zr8t1c9ab77xq", "berth stop-client 0m4z --json"},
		Flags:    []cli.Flag{jsonFlag()},
		Takes:    takes{min: 1, max: 1, what: "a run ID", find: "berth list --json"},
		Run:      func(ctx context.Context, env *Env, _ *cli.Context) error { return runStop(ctx, env, false) },
	}
}

func runStop(ctx context.Context, env *Env, all bool) error {
	if all == (len(env.Args) > 0) {
		return session.Errorf(session.Usage, "stop needs session IDs, or --all").WithHint("berth list")
	}
	return withHome(ctx, env, "stop", func(c *control.Control) error {
		ids := env.Args
		if all {
			page, err := c.DB.List(ctx, registry.Filter{})
			if err != nil {
				return err
			}
			for _, s := range page.Entries {
				ids = append(ids, s.ID)
			}
		}
		ends, errs := make([]control.Ended, len(ids)), make([]error, len(ids))
		forEach(len(ids), func(i int) { ends[i], errs[i] = c.Stop(ctx, ids[i]) }) // one that cannot be stopped keeps none of the others
		docs := []control.Ended{}
		for i, e := range ends {
			if errs[i] != nil {
				continue
			}
			docs = append(docs, e)
			if !env.JSON && (!all || !e.Already) {
				fmt.Fprintln(env.Out, endedText(e, "stopped"))
			}
		}
		if env.JSON && (len(docs) > 0 || worst(errs) == nil) {
			if err := printJSON(env.Out, docs); err != nil {
				return err
			}
		}
		return worst(errs)
	})
}

func endedText(e control.Ended, done string) string {
	var b strings.Builder
	switch {
	case e.Asked:
		fmt.Fprintf(&b, "%s  asked for; this process may be ended with it", e.Session)
	case e.Already:
		fmt.Fprintf(&b, "%s  already %s", e.Session, done)
	default:
		fmt.Fprintf(&b, "%s  %s (ended %s)", e.Session, done, count(e.Ended, "process"))
	}
	if len(e.Spared) > 0 {
		fmt.Fprintf(&b, ", left alone: %s", strings.Join(e.Spared, ", "))
	}
	if len(e.Unverified) > 0 {
		fmt.Fprintf(&b, ", could not be examined: %v", e.Unverified)
	}
	return b.String()
}
