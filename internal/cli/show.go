package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"berth/internal/control"
	"berth/internal/session"
)

func showVerb() *verb {
	return &verb{
		Name: "show", Args: "ID", Group: groupLook,
		Short:    "Show everything known about a session",
		Long:     "Shows state, agent, processes, who holds it, its native conversation, how its last client ended, and what can be done with it, with reasons.",
		Examples: []string{"berth show 7k2m", "berth show 7k2m --json"},
		Flags:    []cli.Flag{jsonFlag()},
		Takes:    takes{min: 1, max: 1, what: "a session ID", find: "berth list"}, Complete: sessionIDs,
		Run: func(ctx context.Context, env *Env, _ *cli.Context) error {
			return withHome(ctx, env, "show", func(c *control.Control) error {
				r, err := c.Show(ctx, env.Args[0])
				if err != nil {
					return err
				}
				if env.JSON {
					err = printJSON(env.Out, r)
				} else {
					err = printRecord(env, r)
				}
				if err == nil && r.Phase == session.PhaseUnknown {
					return session.Errorf(session.Unknown, "session %s: %s", r.ID, *r.Reason)
				}
				return err
			})
		},
	}
}

func printRecord(env *Env, r session.Record) error {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-11s %s\n", name, visible(fmt.Sprintf(format, args...)))
	}
	line("session", "%s", r.ID)
	line("title", "%s", r.Title)
	line("state", "%s", r.State)
	line("agent", "%s in %s", r.Detail, r.Cwd)
	phase := string(r.Phase)
	if r.Reason != nil {
		phase += ": " + *r.Reason
	}
	line("phase", "%s", phase)
	if r.Turn != nil && r.Turn.State != "unknown" {
		since, _ := time.Parse(time.RFC3339Nano, r.Turn.Since) // one that cannot be read is not told
		line("turn", "%s (says its %s, %s ago)", r.Turn.State, r.Turn.Source, ago(time.Now(), since))
	}
	line("run", "%s", r.Run)
	if r.NativeID != nil {
		line("native id", "%s", *r.NativeID)
	}
	for _, id := range r.FormerIDs {
		line("formerly", "%s", id)
	}
	if r.Client != nil {
		line("client", "pid %d", r.Client.PID)
	}
	if r.Supervisor != nil {
		line("supervisor", "pid %d", r.Supervisor.PID)
	}
	for _, h := range r.Hosts {
		where, role := "", "mirrors"
		if h.TTY != nil {
			where = *h.TTY
		}
		if h.Pane != nil {
			where = "pane " + *h.Pane
		}
		if h.Keyboard {
			role = "has the keyboard"
		}
		line("host", "%s %s (pid %d) %s", h.Kind, where, h.PID, role)
	}
	if e := r.LastEnd; e != nil {
		by := ""
		if e.AskedBy != nil {
			by = " by " + *e.AskedBy
		}
		line("ended", "%s: %s%s, %s", e.Outcome, e.Reason, by, e.EndedAt)
		if len(e.Survivors) > 0 {
			line("left", "pids %v", e.Survivors)
		}
	}
	if r.Tmux != nil {
		line("tmux", "%s", r.Tmux.Attach)
	}
	for _, a := range r.Actions {
		if a.Unavailable != nil {
			line(a.Kind, "unavailable: %s", *a.Unavailable)
		} else {
			line(a.Kind, "berth %s %s", a.Kind, r.ID)
		}
	}
	_, err := fmt.Fprint(env.Out, b.String())
	return err
}
