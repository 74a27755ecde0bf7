package cli

import (
	"context"
	"embed"
	"io"

	"github.com/urfave/cli/v2"

	"berth/internal/session"
)

//go:embed completion/berth.bash completion/berth.zsh completion/berth.fish
var completionScripts embed.FS

var shells = []string{"bash", "zsh", "fish"}

func completionVerb() *verb {
	return &verb{
		Name:     "completion",
		Args:     "{bash | zsh | fish}",
		Short:    "Print a completion script for your shell",
		Long:     "The script completes commands, flags and session IDs by asking berth itself, so it stays right when berth is upgraded.",
		Examples: []string{`eval "$(berth completion bash)"`, "berth completion fish > ~/.config/fish/completions/berth.fish"},
		Group:    groupTend,
		Takes:    takes{min: 1, max: 1, what: "a shell: bash, zsh or fish"},
		Complete: func(context.Context, *Env) []string { return shells },
		Run: func(_ context.Context, env *Env, _ *cli.Context) error {
			return printCompletion(env.Out, env.Args[0])
		},
	}
}

func printCompletion(w io.Writer, shell string) error {
	script, err := completionScripts.ReadFile("completion/berth." + shell)
	if err != nil { // embedded: it can only be a shell that is not there
		return session.Errorf(session.Usage, "there is no completion for %q, only for bash, zsh and fish", shell).
			WithHint("berth completion bash")
	}
	_, err = w.Write(script)
	return err
}
