package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"berth/internal/control"
	"berth/internal/host"
	"berth/internal/session"
)

type serveOptions struct {
	timeout  time.Duration
	launched bool
}

func serveConversationVerb() *verb {
	var o serveOptions
	return &verb{
		Name: "serve-conversation", Args: "RUN", Group: groupStart,
		Short: "Launch a run unless it is launched, and host it here",
		Long: "What a session's tmux pane runs. It makes sure that the run's agent is launched and hosts it in this terminal at once. " +
			"" +
			"Without a terminal, as from a script or a unit, it launches, waits until the run is resumable, and prints its record with --json.",
		Examples: []string{"berth serve-conversation 0m4zr8t1c9ab77xq", "berth serve-conversation 0m4z --json"},
		Flags: []cli.Flag{
			&cli.DurationFlag{Name: "ready-timeout", Usage: "wait `TIME` (30s) for it to be resumable", Value: 30 * time.Second, Destination: &o.timeout},
			&cli.BoolFlag{Name: "launched", Hidden: true, Usage: "start nothing: host what was launched, or tell how that ended", Destination: &o.launched},
			jsonFlag(),
		},
		Takes: takes{min: 1, max: 1, what: "a run ID", find: "berth list --json"},
		Run:   func(ctx context.Context, env *Env, _ *cli.Context) error { return runServe(ctx, env, o) },
	}
}

func runServe(ctx context.Context, env *Env, o serveOptions) error {
	if err := notNegative("ready-timeout", o.timeout); err != nil {
		return err
	}
	return withHome(ctx, env, "serve-conversation", func(c *control.Control) error {
		id, err := serve(ctx, env, c, o)
		if err == nil || errors.Is(err, ExitStatus{}) {
			c.ClosePane(ctx, id)
		}
		return err
	})
}

// serve returns the session of the run, and how hosting it ended.
func serve(ctx context.Context, env *Env, c *control.Control, o serveOptions) (id string, err error) {
	if o.launched {
		id, err = launched(ctx, env, c, env.Args[0])
	} else {
		id, err = c.OpenHere(ctx, env.Args[0], control.Opening{Size: terminalSize(env)})
	}
	if err != nil && session.ClassOf(err) == session.Stale {
		fmt.Fprintf(env.Err, "berth: %v\n", err) // superseded: somebody else has it, which is no failure
		return id, nil
	}
	if err != nil {
		return id, err
	}
	in, out, tty := env.Terminal()
	if !tty || env.JSON {
		c.Screen(ctx, id)
		r, err := c.AwaitReady(ctx, id, o.timeout, false)
		if r.ID == "" {
			return id, err
		}
		if perr := printStarted(env, r, err == nil); perr != nil {
			return id, perr
		}
		return id, err
	}
	waiting, cancel := context.WithCancel(ctx)
	told := make(chan struct{})
	go func() {
		defer close(told)
		c.TellReady(waiting, id, o.timeout)
	}()
	defer func() {
		cancel()
		<-told
	}()
	res, err := c.Host(ctx, id, in, out, true, false)
	switch {
	case err != nil:
		if _, ended := launched(ctx, env, c, id); ended != nil { // it ended before it was joined
			return id, ended
		}
		return id, err
	case res.Why != host.Over:
		return id, nil
	}
	return id, status(res.Ending.Code)
}

// launched returns the session of a run whose agent lives; one that has ended is told
// as an error, with its exit status.
func launched(ctx context.Context, env *Env, c *control.Control, ref string) (string, error) {
	id, live, err := c.Live(ctx, ref)
	if err != nil || live {
		return id, err
	}
	code, err := c.Status(ctx, id)
	if err != nil {
		return id, err
	}
	fmt.Fprintf(env.Err, "[%s: the agent has ended. berth open %s resumes it]\n", id, id[:8])
	return id, ExitStatus{code}
}
