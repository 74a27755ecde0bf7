package cli

import (
	"context"
	"encoding/json"

	"github.com/urfave/cli/v2"

	"berth/internal/control"
	"berth/manifest"
)

func eventsVerb() *verb {
	var follow bool
	return &verb{
		Name: "events", Args: "[ID]", Group: groupLook,
		Short:    "Print what happened, as JSON lines",
		Long:     "Prints the events of a session, or of all, oldest first, one JSON document a line. A lost tmux server is one event that names its sessions.",
		Examples: []string{"berth events 7k2m", "berth events --follow"},
		Flags:    []cli.Flag{&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "go on with what happens", Destination: &follow}},
		Takes:    takes{max: 1, what: "a session ID", find: "berth list"}, Complete: sessionIDs,
		Run: func(ctx context.Context, env *Env, _ *cli.Context) error {
			ref := ""
			if len(env.Args) > 0 {
				ref = env.Args[0]
			}
			out := json.NewEncoder(env.Out)
			out.SetEscapeHTML(false)
			return withHome(ctx, env, "events", func(c *control.Control) error {
				return c.Events(ctx, ref, follow, func(e manifest.Event) error { return out.Encode(e) })
			})
		},
	}
}
