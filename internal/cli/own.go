package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"berth/clients"
	"berth/internal/control"
	"berth/internal/provider/demo"
	"berth/internal/session"
	"berth/launcher"
	"berth/manifest"
	"berth/supervisor"
)

// The processes that berth starts as itself.

func supervise(context.Context, *Env) error {
	return status(supervisor.Run(versionOf(nil).Version))
}

func gate(context.Context, *Env) error { return status(launcher.Gate()) }

func demoAgent(ctx context.Context, env *Env) error {
	in, _ := env.In.(*os.File)
	out, _ := env.System.Stdout.(*os.File)
	return status(demo.Main(ctx, env.Args, in, out, env.Getenv))
}

func status(code int) error {
	if code == 0 {
		return nil
	}
	return ExitStatus{code}
}

// hook is what agents and tmux call. "berth hook tmux" says that somebody came to or
// left a pane; "berth hook announce" passes a JSON announcement from stdin on to the
// supervisor of the run it is called in. That never fails the agent that calls it:
// outside a run it does nothing, and what goes wrong is told on stderr only.
func hook(ctx context.Context, env *Env) error {
	if len(env.Args) != 1 {
		return session.Errorf(session.Usage, "a hook needs one name").WithHint("berth hook announce <FILE.json")
	}
	switch env.Args[0] {
	case "tmux":
		return control.LookAtPanes(ctx, caller(env, "hook"))
	case "announce":
		dir := env.Getenv(clients.RunDirMark)
		if dir == "" {
			return nil
		}
		var a manifest.Announcement
		if err := json.NewDecoder(io.LimitReader(env.In, 1<<20)).Decode(&a); err != nil {
			fmt.Fprintf(env.Err, "berth: cannot read the announcement: %v\n", err)
			return nil
		}
		a.Source, a.At = "hook", time.Now().UTC().Format(time.RFC3339Nano)
		if err := manifest.Announce(dir, a); err != nil {
			fmt.Fprintf(env.Err, "berth: %v\n", err)
		}
		return nil
	}
	return session.Errorf(session.Usage, "there is no hook %q", env.Args[0]).WithHint("berth hook announce <FILE.json")
}
