package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/urfave/cli/v2"

	"berth/internal/control"
	"berth/internal/session"
)

// maxMessage is the longest message that can be sent, in bytes.
const maxMessage = 512 << 10

func sendVerb() *verb {
	var id string
	var wait bool
	return &verb{
		Name: "send", Args: "ID {TEXT | -}", Group: groupSteer,
		Short: "Type a message into an agent",
		Long: "Types TEXT, or what stdin says, into the session's agent as one message and sends it off. The agent has to be idle: one that is busy, asks for something or has a message half typed is refused. " +
			"Ends with 0 when the agent has shown that it began, and with 9 when it was typed and nothing shows that. A message with a name (--id) is typed at most once, however often it is sent.",
		Examples: []string{`berth send 7k2m "run the tests again"`, "git diff | berth send 7k2m - --id review-1"},
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "id", Usage: "name the message `NAME`, so that it is sent once only", Destination: &id},
			&cli.BoolFlag{Name: "wait", Usage: "wait until the agent is idle again", Destination: &wait},
			jsonFlag(),
		},
		Takes: takes{min: 2, max: 2, what: "a session ID and a message", find: "berth list"}, Complete: sessionIDs,
		Run: func(ctx context.Context, env *Env, _ *cli.Context) error { return runSend(ctx, env, id, wait) },
	}
}

// sentMessage is `berth send --json`.
type sentMessage struct {
	Session string `json:"session"`
	ID      string `json:"id"`
	Already bool   `json:"already"`
	Proven  bool   `json:"proven"`
}

func runSend(ctx context.Context, env *Env, id string, wait bool) error {
	text, err := message(env)
	if err != nil {
		return err
	}
	if id == "" {
		id = session.NewID()
	} else if !session.ValidName(id) {
		return session.Errorf(session.Usage, "%q cannot be the name of a message", id).WithHint("use letters, digits, dot, dash and underscore, at most 64")
	}
	return withHome(ctx, env, "send", func(c *control.Control) error {
		t, r, err := c.Send(ctx, env.Args[0], id, text)
		told := err == nil || session.ClassOf(err) == session.Unconfirmed
		if env.JSON && told {
			if perr := printJSON(env.Out, sentMessage{Session: t, ID: id, Already: r.Already, Proven: r.Proven}); perr != nil {
				return perr
			}
		} else if r.Already {
			fmt.Fprintf(env.Err, "berth: message %s was sent before; it is not typed again\n", id)
		}
		if err != nil || !wait {
			return err
		}
		_, err = c.Wait(ctx, t, control.ForIdle)
		return err
	})
}

// message is the text to send: the second argument, or stdin.
func message(env *Env) (string, error) {
	text := env.Args[1]
	if text == "-" {
		b, err := io.ReadAll(io.LimitReader(env.In, maxMessage+1))
		if err != nil {
			return "", session.Errorf(session.Failed, "cannot read the message: %w", err)
		}
		text = string(b)
	}
	text = strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	switch {
	case strings.TrimSpace(text) == "":
		return "", session.Errorf(session.Usage, "there is no message to send")
	case len(text) > maxMessage:
		return "", session.Errorf(session.Usage, "the message is longer than %d KiB", maxMessage>>10).WithHint("write it into a file and send the file's name")
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\x1b' }):
		return "", session.Errorf(session.Usage, "the message has control characters, which the agent would take for keys")
	}
	return text, nil
}
