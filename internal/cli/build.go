package cli

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"berth/internal/session"
)

// The library's own --help answers "No help topic" when an argument is there
// too, and a group's --help does not keep its verb from running. Ours is an
// ordinary flag that run looks at before anything else.
func init() { cli.HelpFlag = nil }

// build makes the library's tree from ours and closes its traps: it prints
// nothing, exits nowhere, adds no command of its own, and every command
// answers a bad flag and an unknown name with an error of ours.
func build(root *verb, env *Env) *cli.App {
	return &cli.App{
		Name:                      root.Name,
		Commands:                  commands(root, env),
		Flags:                     root.Flags,
		Action:                    action(root, env),
		OnUsageError:              onUsageError(root),
		ExitErrHandler:            func(*cli.Context, error) {},
		HideHelp:                  true,
		HideVersion:               true,
		DisableSliceFlagSeparator: true, // a directory's name may have a comma
		Reader:                    env.In,
		Writer:                    env.Out,
		ErrWriter:                 env.Err,
	}
}

func commands(parent *verb, env *Env) []*cli.Command {
	var all []*cli.Command
	for _, v := range parent.Verbs {
		all = append(all, &cli.Command{
			Name:         v.Name,
			Aliases:      v.Aliases,
			Flags:        v.Flags,
			Subcommands:  commands(v, env),
			Action:       action(v, env),
			OnUsageError: onUsageError(v),
			HideHelp:     true,
		})
	}
	return all
}

// action runs v, or for a group shows its help or refuses an unknown name.
func action(v *verb, env *Env) cli.ActionFunc {
	return func(c *cli.Context) error {
		if v.Run == nil {
			if c.NArg() > 0 {
				return unknownVerb(v, c.Args().First())
			}
			return printHelp(env.Out, v)
		}
		own := *env
		own.Args, own.Text = split(c.Args().Slice())
		if !v.Text {
			own.Args, own.Text = append(own.Args, own.Text...), nil
		}
		if err := v.Takes.check(v, own.Args); err != nil {
			return err
		}
		return v.Run(c.Context, &own, c)
	}
}

// split cuts words at the "--" that line.ordered left. Without one, text is nil.
func split(words []string) (args, text []string) {
	for i, w := range words {
		if w == "--" {
			return words[:i:i], words[i+1:]
		}
	}
	return words, nil
}

// libraryFlag finds the flag in the library's errors, which name it with one dash.
var libraryFlag = regexp.MustCompile(` -([a-z0-9-]{2,}):`)

// onUsageError rewords what the library says of a flag's value. It says it for
// people only, so its text is used and not its type.
func onUsageError(v *verb) cli.OnUsageErrorFunc {
	return func(_ *cli.Context, err error, _ bool) error {
		text := libraryFlag.ReplaceAllString(err.Error(), " --$1:")
		return usage(v, "%s: %s", v.label(), strings.ToLower(text[:1])+text[1:])
	}
}

// usage is an error about how v was called; its hint is v's help.
func usage(v *verb, format string, args ...any) *session.Error {
	return session.Errorf(session.Usage, format, args...).WithHint("%s --help", v.path())
}

// lacks says that v has no such command or flag.
func lacks(v *verb, what string) string {
	if v.parent == nil {
		return "there is no " + what
	}
	return v.label() + " has no " + what
}

func unknownVerb(group *verb, word string) error {
	err := usage(group, "%s", lacks(group, "command "+strconv.Quote(word)))
	var names []string
	for _, v := range group.Verbs {
		if !v.Hidden {
			names = append(names, v.names()...)
		}
	}
	if name := nearest(word, names); name != "" {
		return err.WithHint("%s %s", group.path(), name)
	}
	return err
}
