package cli

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"berth/internal/control"
	"berth/internal/session"
)

func doctorVerb() *verb {
	return &verb{
		Name: "doctor", Group: groupTend,
		Short:    "Check what berth stands on",
		Long:     "Checks the home, tmux and its configuration, file watching and the agents' programs. Names the command that mends what it finds; exits 1 when something must be mended.",
		Examples: []string{"berth doctor", "berth doctor --json"},
		Flags:    []cli.Flag{jsonFlag()},
		Run: func(ctx context.Context, env *Env, _ *cli.Context) error {
			return withHome(ctx, env, "doctor", func(c *control.Control) error {
				found := c.Doctor(ctx)
				if env.JSON {
					if err := printJSON(env.Out, found); err != nil {
						return err
					}
				}
				bad := 0
				for _, f := range found {
					if f.Level == control.LevelMend {
						bad++
					}
					if env.JSON {
						continue
					}
					fmt.Fprintf(env.Out, "%-5s %-17s %s\n", f.Level, f.Check, visible(f.Detail))
					if f.Hint != "" {
						fmt.Fprintf(env.Out, "%23s try: %s\n", "", visible(f.Hint))
					}
				}
				if bad > 0 {
					return session.Errorf(session.Failed, "%s must be mended", count(bad, "thing"))
				}
				return nil
			})
		},
	}
}
