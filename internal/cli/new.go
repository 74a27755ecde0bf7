package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"berth/internal/control"
	"berth/internal/provider"
	"berth/internal/session"
	"berth/manifest"
)

// maxRequest is the longest opening request, in bytes.
const maxRequest = 8 << 20

type newOptions struct {
	control.NewOptions
	promptFile string
	onTimeout  string
	foreground bool
	wait       bool
}

func newVerb() *verb {
	var o newOptions
	return &verb{
		Name: "new", Args: "[PROVIDER]", Group: groupStart,
		Short: "Start a conversation with an agent",
		Long: "Starts the agent in a session of its own and waits until the conversation could be resumed. " +
			"The session runs on without this terminal. PROVIDER is demo, built in, or a [provider.NAME] of config.toml; demo is taken when none is named. " +
			"Words after -- are the opening request.",
		Examples: []string{`berth new demo -- "hello"`, "berth new demo --title greeting --json --prompt-file request.md"},
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "title", Usage: "name the session `TITLE`", Destination: &o.Title},
			&cli.StringFlag{Name: "cwd", Usage: "run the agent in `DIR`", Destination: &o.Cwd},
			&cli.StringFlag{Name: "model", Usage: "ask the agent for model `NAME`", Destination: &o.Model},
			&cli.StringFlag{Name: "prompt-file", Usage: "take the opening request from `FILE`, - is stdin", Destination: &o.promptFile},
			&cli.StringFlag{Name: "restart", Usage: "start it again when it ends by itself: `WHEN` is never (the default), on-failure or always", Value: manifest.RestartNever, Destination: &o.Restart},
			&cli.DurationFlag{Name: "ready-timeout", Usage: "wait `TIME` (30s) for it to be resumable", Value: 30 * time.Second, Destination: &o.ReadyTimeout},
			&cli.StringFlag{Name: "on-timeout", Usage: "`keep|kill` the agent when that has passed (keep)", Value: "keep", Destination: &o.onTimeout},
			&cli.BoolFlag{Name: "wait", Usage: "wait until it has answered the opening request", Destination: &o.wait},
			&cli.BoolFlag{Name: "foreground", Usage: "join it in this terminal at once", Destination: &o.foreground},
			jsonFlag(),
		},
		Takes: takes{max: 1, what: "a provider"}, Text: true,
		Run: func(ctx context.Context, env *Env, _ *cli.Context) error { return runNew(ctx, env, o) },
	}
}

func runNew(ctx context.Context, env *Env, o newOptions) error {
	o.Provider = provider.Demo
	if len(env.Args) > 0 {
		o.Provider = env.Args[0]
	}
	if o.onTimeout != "keep" && o.onTimeout != "kill" {
		return session.Errorf(session.Usage, "--on-timeout is keep or kill, not %q", o.onTimeout)
	}
	o.Kill = o.onTimeout == "kill"
	if err := notNegative("ready-timeout", o.ReadyTimeout); err != nil {
		return err
	}
	if !slices.Contains([]string{manifest.RestartNever, manifest.RestartOnFailure, manifest.RestartAlways}, o.Restart) {
		return session.Errorf(session.Usage, "--restart is never, on-failure or always, not %q", o.Restart)
	}
	in, out, tty := env.Terminal()
	if o.foreground && !tty {
		return session.Errorf(session.Usage, "--foreground needs a terminal").WithHint("leave it out: berth new %s", o.Provider)
	}
	if o.foreground && env.JSON {
		return session.Errorf(session.Usage, "--foreground shows the agent, so it cannot print --json").WithHint("leave one of them out")
	}
	var err error
	if o.Request, err = request(env, o.promptFile); err != nil {
		return err
	}
	if o.wait && len(o.Request) == 0 {
		return session.Errorf(session.Usage, "--wait waits for the answer to an opening request, and there is none").WithHint(`berth new %s --wait -- "what to do"`, o.Provider)
	}
	if o.wait && o.foreground {
		return session.Errorf(session.Usage, "--foreground shows the agent; there is nothing to --wait for").WithHint("leave one of them out")
	}
	o.Size, o.NoTmux = terminalSize(env), o.foreground
	return withHome(ctx, env, "new", func(c *control.Control) error {
		id, err := c.Create(ctx, o.NewOptions)
		if err != nil {
			return err
		}
		if o.foreground {
			return hostHere(ctx, env, c, id, in, out, false, true)
		}
		c.Screen(ctx, id)
		r, err := c.AwaitReady(ctx, id, o.ReadyTimeout, o.Kill)
		if r.ID == "" {
			return err
		}
		if err == nil && o.wait {
			elapsed := r.ElapsedMS
			r, err = c.Wait(ctx, id, control.ForAnswer)
			r.ElapsedMS = elapsed
		}
		if perr := printStarted(env, r, err == nil); perr != nil {
			return perr
		}
		return err
	})
}

// request is the opening request, from the words after -- or a file.
func request(env *Env, file string) ([]byte, error) {
	words := []byte(strings.Join(env.Text, " "))
	if file == "" {
		return words, nil
	}
	if len(words) > 0 {
		return nil, session.Errorf(session.Usage, "the opening request is given twice, after -- and by --prompt-file").WithHint("leave one of them out")
	}
	var r io.Reader = env.In
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, session.Errorf(session.Failed, "cannot read the opening request: %w", err)
		}
		defer f.Close() //nolint:errcheck // read only
		r = f
	}
	b, err := io.ReadAll(io.LimitReader(r, maxRequest+1))
	switch {
	case err != nil:
		return nil, session.Errorf(session.Failed, "cannot read the opening request: %w", err)
	case len(b) > maxRequest:
		return nil, session.Errorf(session.Usage, "the opening request is longer than %d MiB", maxRequest>>20)
	}
	return b, nil
}

// printStarted tells about a session that was started.
func printStarted(env *Env, r session.Record, ok bool) error {
	if env.JSON {
		return printJSON(env.Out, r)
	}
	if !ok { // the error says how it stands; the id is data all the same
		_, err := fmt.Fprintln(env.Out, r.ID)
		return err
	}
	if env.OutTTY {
		_, err := fmt.Fprintf(env.Out, "%s  %s  (%s)\n  berth open %s      join it here\n  berth attach %s    look at it in tmux\n",
			r.ID, visible(r.Title), howFar(r), r.ID[:8], r.ID[:8])
		return err
	}
	_, err := fmt.Fprintln(env.Out, r.ID)
	return err
}

// howFar says how far a session's client has come, and what is missing.
func howFar(r session.Record) string {
	if r.Reason == nil {
		return string(r.Phase)
	}
	return string(r.Phase) + ", " + *r.Reason
}
