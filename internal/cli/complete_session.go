package cli

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"berth/internal/control"
)

func completeVerb() *verb {
	return &verb{
		Name: "complete", Args: "ID", Group: groupSteer,
		Short:    "End the agent and close the session",
		Long:     "Ends the agent and everything it runs, and closes the session for good: it leaves the list (list --all shows it) and cannot be opened again.",
		Examples: []string{"berth complete 7k2m", "berth complete 7k2m --json"},
		Flags:    []cli.Flag{jsonFlag()},
		Takes:    takes{min: 1, max: 1, what: "a session ID", find: "berth list"}, Complete: sessionIDs,
		Run: func(ctx context.Context, env *Env, _ *cli.Context) error {
			return withHome(ctx, env, "complete", func(c *control.Control) error {
				e, already, err := c.Complete(ctx, env.Args[0])
				switch {
				case err != nil:
					return err
				case env.JSON:
					r, err := c.Show(ctx, e.Session)
					if err != nil {
						return err
					}
					return printJSON(env.Out, r)
				case already:
					_, err = fmt.Fprintf(env.Out, "%s  already complete\n", e.Session)
				default:
					e.Already = false
					_, err = fmt.Fprintln(env.Out, endedText(e, "completed"))
				}
				return err
			})
		},
	}
}
