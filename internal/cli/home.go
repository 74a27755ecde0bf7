package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"berth/internal/control"
	"berth/internal/protocol"
	"berth/internal/registry"

	"golang.org/x/sys/unix"
)

func caller(env *Env, verb string) control.Caller {
	return control.Caller{
		Env: env.System.Environ, Umask: env.System.umask, Command: "berth " + verb, Version: versionOf(nil).Version,
	}
}

// withHome runs f with the home of the environment, opened for a verb.
func withHome(ctx context.Context, env *Env, verb string, f func(*control.Control) error) (err error) {
	c, err := control.Open(ctx, caller(env, verb), func(format string, args ...any) {
		fmt.Fprintf(env.Err, "berth: %s\n", visible(fmt.Sprintf(format, args...)))
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return f(c)
}

// terminalSize is the size of the person's terminal, zero if there is none.
func terminalSize(env *Env) protocol.Size {
	_, out, ok := env.Terminal()
	if !ok {
		return protocol.Size{}
	}
	ws, err := unix.IoctlGetWinsize(int(out.Fd()), unix.TIOCGWINSZ)
	if err != nil || ws.Col == 0 || ws.Row == 0 {
		return protocol.Size{}
	}
	return protocol.Size{Cols: int(ws.Col), Rows: int(ws.Row), XPixel: int(ws.Xpixel), YPixel: int(ws.Ypixel)}
}

// sessionIDs completes a session's id.
func sessionIDs(ctx context.Context, env *Env) (out []string) {
	withHome(ctx, env, "list", func(c *control.Control) error { //nolint:errcheck // no completion is no harm
		page, err := c.DB.List(ctx, registry.Filter{Limit: 100})
		for _, s := range page.Entries {
			out = append(out, s.ID+"\t"+s.Title)
		}
		return err
	})
	return out
}

// become replaces this process by another program, in the terminal it was called in.
func become(env *Env, argv []string) error {
	unix.Umask(env.System.umask)
	return fmt.Errorf("cannot run %s: %w", argv[0], unix.Exec(argv[0], argv, os.Environ()))
}
