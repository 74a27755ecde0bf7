package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

// completeWord is the hidden command that the completion scripts ask.
const completeWord = "__complete"

// complete prints what the last of env.Args, a word being typed, could become:
// one "value\tabout it" a line. The words before it are those after "berth".
// Nothing printed means that the shell knows better: a file, a flag's value.
func complete(ctx context.Context, env *Env) error {
	if len(env.Args) == 0 {
		return nil
	}
	last := len(env.Args) - 1
	typed := env.Args[last]
	l := scan(tree(verbs()), env.Args[:last])
	var lines strings.Builder
	for _, candidate := range candidates(ctx, env, l, typed) {
		if strings.HasPrefix(candidate, typed) {
			fmt.Fprintln(&lines, candidate)
		}
	}
	_, err := io.WriteString(env.Out, lines.String())
	return err
}

func candidates(ctx context.Context, env *Env, l line, typed string) []string {
	v := l.verb()
	switch {
	case l.dashes || l.dangle:
		return nil
	case strings.HasPrefix(typed, "-"):
		return flagSummaries(v)
	case v.Run == nil && len(l.args) == 0:
		return summaries(v)
	case v.Complete != nil && len(l.args) < v.Takes.max:
		return v.Complete(ctx, env)
	}
	return nil
}

// summaries is the visible verbs under v.
func summaries(v *verb) []string {
	var all []string
	for _, child := range v.Verbs {
		if !child.Hidden {
			all = append(all, child.Name+"\t"+child.Short)
		}
	}
	return all
}

func flagSummaries(v *verb) []string {
	var all []string
	for _, f := range v.Flags {
		if f, ok := f.(cli.VisibleFlag); ok && !f.IsVisible() {
			continue
		}
		_, about := valueName(f.(cli.DocGenerationFlag).GetUsage())
		for _, name := range f.Names() {
			all = append(all, dashed(name)+"\t"+about)
		}
	}
	return all
}
