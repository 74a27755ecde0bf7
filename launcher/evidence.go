package launcher

import (
	"cmp"
	"slices"
	"strings"
)

// minSecret is the shortest value masked, in bytes: shorter ones are words that
// stand in every text.
const minSecret = 8

// plainNames are variables whose values are no secrets and stand in many texts.
var plainNames = []string{
	"PATH", "HOME", "PWD", "OLDPWD", "SHELL", "USER", "LOGNAME", "LANG", "TERM", "COLORTERM", "TZ", "TMPDIR", "HOSTNAME",
	"BERTH_HOME", "BERTH_BIN", "BERTH_RUN_DIR", "BERTH_RUN_ID", "BERTH_SESSION_ID",
}

// Mask replaces in text what must not be kept: the opening request, whole or by
// line, and the values of the client's environment.
func Mask(text string, s Spec) string {
	var secrets []string
	for line := range strings.Lines(string(s.Prompt)) {
		secrets = append(secrets, strings.TrimSpace(line))
	}
	for _, kv := range s.Client.Env {
		k, v, _ := strings.Cut(kv, "=")
		if !slices.Contains(plainNames, k) && !strings.HasPrefix(k, "LC_") {
			secrets = append(secrets, v)
		}
	}
	// Longest first: a value that holds another one is masked whole.
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, v := range slices.Compact(secrets) {
		if len(v) >= minSecret {
			text = strings.ReplaceAll(text, v, "[masked]")
		}
	}
	return text
}
