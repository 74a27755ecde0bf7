package cli

import (
	"strings"
	"testing"
)

func TestComplete(t *testing.T) {
	for _, test := range []struct{ name, words, want string }{
		{"verbs", "v", "version"},
		{"flags", "version --", "--json --help"},
		{"flags after others", "version --json --h", "--help"},
		{"arguments", "completion _", "bash zsh fish"},
		{"some arguments", "completion z", "zsh"},
		{"no more arguments than it takes", "completion bash _", ""},
		{"topics", "help exit", "exit-codes"},
		{"nothing after the dashes", "help -- _", ""},
		{"nothing under an unknown verb", "nope _", ""},
		{"nothing hidden", "x", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			words := strings.Split(strings.ReplaceAll(test.words, "_", ""), " ") // _ is an empty word
			status, stdout, stderr := berth(append([]string{completeWord}, words...)...)
			var values []string
			for line := range strings.Lines(stdout) {
				value, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
				values = append(values, value)
			}
			if got := strings.Join(values, " "); status != 0 || stderr != "" || got != test.want {
				t.Errorf("got %d, %q, %q", status, got, stderr)
			}
		})
	}
}
