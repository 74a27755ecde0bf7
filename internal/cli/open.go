package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"berth/internal/control"
	"berth/internal/host"
	"berth/internal/session"
	"berth/manifest"
)

type openOptions struct {
	control.Opening
	exitStatus bool
}

func openVerb() *verb {
	var o openOptions
	return &verb{
		Name: "open", Aliases: []string{"connect"}, Args: "ID", Group: groupStart,
		Short: "Join a conversation in this terminal",
		Long: "Joins the agent where it runs, or starts it and resumes the conversation where it does not. " +
			"ctrl-\\ leaves; the agent runs on. A session that is held by another terminal, or by somebody attached to its tmux pane, is refused: --move takes it from there, " +
			"screen, half-typed words and all; --replace ends the agent and resumes the conversation in a new one here. --json starts nothing: it prints the record.",
		Examples: []string{"berth open 7k2m", "berth open 7k2m --move"},
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "move", Usage: "take the keyboard from whoever has it", Destination: &o.Move},
			&cli.BoolFlag{Name: "replace", Usage: "end the agent, resume it here", Destination: &o.Replace},
			&cli.BoolFlag{Name: "try", Usage: "start it though nobody can tell whether it runs", Destination: &o.Try},
			&cli.BoolFlag{Name: "fresh", Usage: "start a new conversation if no agent runs; the opening request is typed again", Destination: &o.Fresh},
			&cli.BoolFlag{Name: "exit-status", Usage: "exit with the agent's status", Destination: &o.exitStatus},
			jsonFlag(),
		},
		Takes: takes{min: 1, max: 1, what: "a session ID", find: "berth list"}, Complete: sessionIDs,
		Run: func(ctx context.Context, env *Env, _ *cli.Context) error { return runOpen(ctx, env, o) },
	}
}

func moveVerb() *verb {
	return &verb{
		Name: "move", Args: "ID", Group: groupStart,
		Short:    "Take a conversation over into this terminal",
		Long:     "As open --move: the agent runs on, and its screen, its half-typed words and the keyboard come here. Whoever had it is told where it went.",
		Examples: []string{"berth move 7k2m", "berth move $(berth list -q --limit 1)"},
		Takes:    takes{min: 1, max: 1, what: "a session ID", find: "berth list"}, Complete: sessionIDs,
		Run: func(ctx context.Context, env *Env, _ *cli.Context) error {
			return runOpen(ctx, env, openOptions{Opening: control.Opening{Move: true}})
		},
	}
}

func runOpen(ctx context.Context, env *Env, o openOptions) error {
	if n := len(slices.DeleteFunc([]bool{o.Move, o.Replace, o.Try}, func(on bool) bool { return !on })); n > 1 {
		return session.Errorf(session.Usage, "--move, --replace and --try exclude each other").WithHint("berth help open")
	}
	return withHome(ctx, env, "open", func(c *control.Control) (err error) {
		if env.JSON {
			r, err := c.Show(ctx, env.Args[0])
			if err != nil {
				return err
			}
			return printJSON(env.Out, r)
		}
		in, out, ok := env.Terminal()
		if !ok {
			return session.Errorf(session.Usage, "open needs a terminal").WithHint("berth show %s", env.Args[0])
		}
		o.Size = terminalSize(env)
		for range openTries {
			var id string
			if id, err = c.OpenHere(ctx, env.Args[0], o.Opening); err != nil {
				return err
			}
			err = hostHere(ctx, env, c, id, in, out, o.Move, o.exitStatus)
			if !errors.Is(err, control.ErrOver) {
				break
			}
		}
		return err
	})
}

// openTries is how often an agent may end between being found alive and being
// joined, before its ending is the person's to look at.
const openTries = 3

// hostHere joins the terminal to a session and says, when it is over, how.
func hostHere(ctx context.Context, env *Env, c *control.Control, id string, in, out *os.File, move, pass bool) error {
	over := screenBeside(ctx, c, id)
	res, err := c.Host(ctx, id, in, out, false, move)
	over()
	if err != nil {
		return err
	}
	switch res.Why {
	case host.Detached:
		fmt.Fprintf(env.Err, "[left %s; the agent runs on. berth open %s joins it again]\n", id, id[:8])
	case host.Moved:
		fmt.Fprintf(env.Err, "[%s was moved to %s. berth open %s --move takes it back]\n", id, visible(res.To), id[:8])
	case host.Over:
		if res.Ending.Reason == manifest.ReasonMoved {
			fmt.Fprintf(env.Err, "[%s was %s. berth open %s --move takes it back]\n", id, visible(res.Ending.Message), id[:8])
			return nil
		}
		how := ". berth open " + id[:8] + " resumes it"
		if res.Ending.Reason == manifest.ReasonCompleted {
			how = "" // it is closed for good
		}
		fmt.Fprintf(env.Err, "[%s: the agent ended: %s%s]\n", id, visible(res.Ending.Message), how)
		if pass {
			return status(res.Ending.Code)
		}
	}
	return nil
}

// screenWait is how long a person who leaves waits for the tmux session that is
// being made: it takes milliseconds, or tmux is stuck.
const screenWait = time.Second

// screenBeside makes sure of the session's tmux session while this terminal is the
// agent's. What there is to say of that is said by over, which is called when the
// person has the terminal back.
func screenBeside(ctx context.Context, c *control.Control, id string) (over func()) {
	ctx, cancel := context.WithCancel(ctx)
	var said []string // the goroutine's until done is closed
	beside := *c
	beside.Notice = func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	done := make(chan struct{})
	go func() {
		defer close(done)
		beside.Screen(ctx, id)
	}()
	return func() {
		select {
		case <-done:
		case <-time.After(screenWait):
		}
		cancel()
		<-done
		for _, s := range said {
			c.Notice("%s", s)
		}
	}
}
