package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"berth/internal/control"
)

func reconcileVerb() *verb {
	return &verb{
		Name: "reconcile", Group: groupTend,
		Short: "Bring the record in line with what is so",
		Long: "After a crash, a reboot or a lost tmux server: settles half launches, records the ends that nobody saw, makes missing tmux sessions and removes stale ones. " +
			"Names each session it changed with its old and new state. A second run finds nothing to do. What cannot be told, or is being changed by another command, is left alone.",
		Examples: []string{"berth reconcile", "berth reconcile --json"},
		Flags:    []cli.Flag{jsonFlag()},
		Run: func(ctx context.Context, env *Env, _ *cli.Context) error {
			return withHome(ctx, env, "reconcile", func(c *control.Control) error {
				all, err := c.Reconcile(ctx)
				if err != nil {
					return err
				}
				if env.JSON {
					return printJSON(env.Out, all)
				}
				for _, s := range all {
					if len(s.Did) > 0 {
						fmt.Fprintf(env.Out, "%s  %s → %s: %s\n", s.Session, s.Was, s.Is, visible(strings.Join(s.Did, "; ")))
					}
					if s.Left != "" {
						fmt.Fprintf(env.Out, "%s  %s, left alone: %s\n", s.Session, s.Is, visible(s.Left))
					}
				}
				return nil
			})
		},
	}
}
