package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"berth/internal/session"
)

func helpVerb() *verb {
	return &verb{
		Name:     "help",
		Args:     "[COMMAND | TOPIC]",
		Short:    "Explain a command or a topic",
		Long:     "Without an argument it lists the commands.\nTopics: " + strings.Join(topicNames(), ", ") + ".",
		Examples: []string{"berth help version", "berth help exit-codes"},
		Group:    groupTend,
		Takes:    takes{max: many, what: "a command or a topic"},
		Complete: func(context.Context, *Env) []string {
			return append(summaries(tree(verbs())), topicNames()...)
		},
		Run: func(_ context.Context, env *Env, _ *cli.Context) error {
			return runHelp(env, tree(verbs()))
		},
	}
}

func runHelp(env *Env, root *verb) error {
	if len(env.Args) == 1 {
		if text := topic(env.Args[0]); text != "" {
			_, err := io.WriteString(env.Out, text)
			return err
		}
	}
	v := root
	for _, word := range env.Args {
		next := v.child(word)
		if next == nil {
			return unknownTopic(v, word)
		}
		v = next
	}
	return printHelp(env.Out, v)
}

func unknownTopic(v *verb, word string) error {
	err := session.Errorf(session.Usage, "there is no help on %q", word).WithHint("berth help")
	names := topicNames()
	for _, child := range v.Verbs {
		names = append(names, child.names()...)
	}
	if name := nearest(word, names); name != "" {
		return err.WithHint("berth help %s", name)
	}
	return err
}

// printHelp prints v's help page.
func printHelp(w io.Writer, v *verb) error {
	var b strings.Builder
	section := func(title string, lines ...string) {
		if len(lines) > 0 {
			fmt.Fprintf(&b, "\n%s\n  %s\n", title, strings.Join(lines, "\n  "))
		}
	}
	b.WriteString(v.Short + "\n")
	section("USAGE", usageLine(v))
	if v.Long != "" {
		section("DESCRIPTION", strings.Split(wrap(v.Long), "\n")...)
	}
	for _, group := range []string{groupStart, groupLook, groupSteer, groupTend, ""} {
		title := group
		if group == "" {
			title = "COMMANDS"
		}
		section(title, commandLines(v, group)...)
	}
	section("OPTIONS", flagLines(v)...)
	section("EXAMPLES", v.Examples...)
	if v.parent == nil {
		section("MORE", "berth help COMMAND", "berth help "+strings.Join(topicNames(), "\n  berth help "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// usageLine is `berth stop ID… [options]`.
func usageLine(v *verb) string {
	line := v.path()
	if v.Args != "" {
		line += " " + v.Args
	}
	if v.Run == nil && v.parent != nil {
		return line + " COMMAND"
	}
	line += " [options]"
	if v.Text {
		line += " [-- TEXT]"
	}
	return line
}

func commandLines(v *verb, group string) []string {
	var rows [][2]string
	for _, child := range v.Verbs {
		if child.Group == group && !child.Hidden {
			rows = append(rows, [2]string{strings.Join(child.names(), ", "), child.Short})
		}
	}
	return aligned(rows)
}

func flagLines(v *verb) []string {
	var rows [][2]string
	for _, f := range v.Flags {
		if f, ok := f.(cli.VisibleFlag); ok && !f.IsVisible() {
			continue
		}
		doc := f.(cli.DocGenerationFlag)
		value, about := valueName(doc.GetUsage())
		short, long := "    ", ""
		for _, name := range f.Names() {
			if len(name) == 1 {
				short = "-" + name + ", "
			} else if long == "" {
				long = "--" + name
			}
		}
		if doc.TakesValue() {
			long += " " + value
		}
		rows = append(rows, [2]string{short + long, about})
	}
	return aligned(rows)
}

// valueName takes the value's name, between back quotes, out of a flag's usage.
func valueName(usage string) (name, about string) {
	before, rest, ok := strings.Cut(usage, "`")
	name, after, closed := strings.Cut(rest, "`")
	if !ok || !closed {
		return "VALUE", usage
	}
	return name, before + name + after
}

// aligned puts the second cells of rows under each other.
func aligned(rows [][2]string) []string {
	width := 0
	for _, r := range rows {
		width = max(width, columns(r[0]))
	}
	var lines []string
	for _, r := range rows {
		lines = append(lines, r[0]+strings.Repeat(" ", width-columns(r[0])+3)+r[1])
	}
	return lines
}

// wrap breaks each line of text at 76 columns, between words.
func wrap(text string) string {
	var out []string
	for _, paragraph := range strings.Split(text, "\n") {
		line := ""
		for _, word := range strings.Fields(paragraph) {
			if line != "" && columns(line)+1+columns(word) > 76 {
				out, line = append(out, line), ""
			}
			line = strings.TrimPrefix(line+" "+word, " ")
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}
