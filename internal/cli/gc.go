package cli

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"berth/internal/control"
)

func gcVerb() *verb {
	var dry bool
	return &verb{
		Name: "gc", Group: groupTend,
		Short:    "Remove what crashes have left behind",
		Long:     "Removes half-written files, sockets nobody listens on, and requests answered more than a week ago. Evidence, runs and conversations are never touched.",
		Examples: []string{"berth gc --dry-run", "berth gc --json"},
		Flags:    []cli.Flag{&cli.BoolFlag{Name: "dry-run", Aliases: []string{"n"}, Usage: "only say what would be removed", Destination: &dry}, jsonFlag()},
		Run: func(ctx context.Context, env *Env, _ *cli.Context) error {
			return withHome(ctx, env, "gc", func(c *control.Control) error {
				litter, err := c.Collect(ctx, dry)
				if env.JSON {
					if perr := printJSON(env.Out, litter); perr != nil {
						return perr
					}
					return err
				}
				for _, l := range litter {
					fmt.Fprintf(env.Out, "%s  %s\n", visible(l.Path), l.Why)
				}
				return err
			})
		},
	}
}
