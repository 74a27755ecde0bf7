package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"berth/clients"
	"berth/internal/control"
	"berth/internal/registry"
	"berth/internal/session"
	"berth/manifest"
)

type listOptions struct {
	registry.Filter
	page, quiet bool
	attention   bool
}

// listPage is `berth list --page --json`.
type listPage struct {
	Entries []session.Record `json:"entries"`
	Next    *string          `json:"next"`
}

func listVerb() *verb {
	var o listOptions
	return &verb{
		Name: "list", Aliases: []string{"ls"}, Group: groupLook,
		Short: "List sessions, the latest first",
		Long: "Lists the open sessions with what is known of each from its own evidence; asks neither tmux nor the agents. " +
			"A session whose evidence cannot be read is listed with the reason.",
		Examples: []string{"berth list", "berth ls --all --search flaky --json"},
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "completed ones too", Destination: &o.All},
			&cli.BoolFlag{Name: "attention", Usage: "only those that wait for a person", Destination: &o.attention},
			&cli.StringFlag{Name: "provider", Usage: "only those of `NAME`", Destination: &o.Provider},
			&cli.StringFlag{Name: "cwd", Usage: "only those in `DIR`", Destination: &o.Cwd},
			&cli.StringFlag{Name: "search", Usage: "only those with `TEXT` in title or directory", Destination: &o.Search},
			&cli.IntFlag{Name: "limit", Usage: "at most `N`; 0 is all", Value: 100, Destination: &o.Limit},
			&cli.IntFlag{Name: "offset", Usage: "leave out the first `N`", Destination: &o.Offset},
			&cli.StringFlag{Name: "after", Usage: "go on after session `ID`; voids --offset", Destination: &o.After},
			&cli.BoolFlag{Name: "page", Usage: "with --json: {entries, next}", Destination: &o.page},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "IDs only", Destination: &o.quiet},
			jsonFlag(),
		},
		Run: func(ctx context.Context, env *Env, _ *cli.Context) error { return runList(ctx, env, o) },
	}
}

func runList(ctx context.Context, env *Env, o listOptions) error {
	switch {
	case o.Limit < 0 || o.Offset < 0:
		return session.Errorf(session.Usage, "--limit and --offset count sessions: they cannot be below 0")
	case o.page && o.Limit == 0:
		return session.Errorf(session.Usage, "--page needs a --limit above 0").WithHint("berth list --page --limit 100 --json")
	case o.page && !env.JSON:
		return session.Errorf(session.Usage, "--page is a JSON document").WithHint("berth list --page --json")
	}
	if o.Cwd != "" {
		abs, err := filepath.Abs(o.Cwd)
		if err != nil {
			return err
		}
		if real, err := filepath.EvalSymlinks(abs); err == nil {
			abs = real
		}
		o.Cwd = abs
	}
	return withHome(ctx, env, "list", func(c *control.Control) error {
		records, next, err := c.List(ctx, o.Filter, o.attention)
		if err != nil {
			return err
		}
		if len(records) == 0 && !o.quiet {
			none := "no sessions; berth new starts one"
			if o.attention {
				none = "no session waits for anybody"
			} else if o.Filter != (registry.Filter{Limit: o.Limit, All: o.All}) {
				none = "no session matches"
			} else if !o.All {
				none = "no open sessions; berth new starts one, berth list --all shows completed ones too"
			}
			fmt.Fprintln(env.Err, none)
		}
		switch {
		case o.page:
			doc := listPage{Entries: records}
			if next != "" {
				doc.Next = &next
			}
			return printJSON(env.Out, doc)
		case env.JSON:
			return printJSON(env.Out, records)
		case o.quiet:
			for _, r := range records {
				if _, err := fmt.Fprintln(env.Out, r.ID); err != nil {
					return err
				}
			}
			return nil
		}
		return printList(env, records, next)
	})
}

// phase is how far the client has come; of one that has ended, how.
func phase(r session.Record) string {
	switch end := r.LastEnd; {
	case r.Phase != session.Ended || end == nil:
		return string(r.Phase)
	case end.AskedBy != nil:
		return "stopped"
	case end.Outcome == string(clients.Failed):
		return "failed"
	}
	return string(r.Phase)
}

func printList(env *Env, records []session.Record, next string) error {
	if len(records) == 0 {
		return nil
	}
	t := newTable("ID", "STATE", "PHASE", "TURN", "HELD", "AGENT", "AGE", "TITLE")
	now := time.Now()
	for _, r := range records {
		held, turn := "", ""
		if r.HeldBy != nil {
			held = *r.HeldBy
		}
		if r.Turn != nil && r.Turn.State != "unknown" {
			turn = r.Turn.State
		}
		if r.Attention != nil && (turn == "" || turn == manifest.TurnIdle) {
			turn = *r.Attention
		}
		created, err := time.Parse(time.RFC3339Nano, r.CreatedAt)
		if err != nil {
			return err
		}
		t.row(r.ID[:8], string(r.State), phase(r), turn, held, r.Detail, ago(now, created), r.Title)
	}
	if err := t.print(env.Streams); err != nil {
		return err
	}
	if next != "" {
		fmt.Fprintf(env.Err, "there are more: berth list --after %s\n", next)
	}
	return nil
}
