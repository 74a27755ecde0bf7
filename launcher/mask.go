package launcher

import (
	"bytes"
	"index/suffixarray"
	"slices"
	"strings"
	"unicode"
)

// What is long enough to be masked. A secret is not always on a screen as it was
// given: an agent wraps it, frames it, shows its end only. So blanks and frames do
// not count, and pieces do.
const (
	minSecret = 8  // bytes of a value, or of a word with a digit: shorter ones stand in every text
	minPiece  = 12 // bytes in a row of the opening request, or of a value that is no path
)

// masked stands for what was taken out.
const masked = "[masked]"

// plainNames are variables whose values are no secrets and stand in many texts.
var plainNames = []string{
	"PATH", "HOME", "PWD", "OLDPWD", "SHELL", "USER", "LOGNAME", "LANG", "TERM", "COLORTERM", "TZ", "TMPDIR", "HOSTNAME",
	"BERTH_HOME", "BERTH_BIN", "BERTH_RUN_DIR", "BERTH_RUN_ID", "BERTH_SESSION_ID",
}

// Mask replaces in text what must not be kept: the opening request and the values of
// the client's environment, whole or in pieces.
func Mask(text string, s Spec) string {
	shown, at := visible([]byte(text))
	hide := make([]bool, len(shown))
	whole, pieces := secrets(s)
	for _, w := range whole {
		for from := 0; ; from++ {
			i := bytes.Index(shown[from:], w)
			if i < 0 {
				break
			}
			from += i
			for j := range w {
				hide[from+j] = true
			}
		}
	}
	index := suffixarray.New(pieces)
	for i := 0; i+minPiece <= len(shown); i++ {
		if len(index.Lookup(shown[i:i+minPiece], 1)) > 0 {
			for j := range minPiece {
				hide[i+j] = true
			}
		}
	}
	var b strings.Builder
	end := 0 // of what is in b
	for i := 0; i < len(shown); i++ {
		if !hide[i] {
			continue
		}
		b.WriteString(text[end:at[i]])
		b.WriteString(masked)
		for i+1 < len(shown) && hide[i+1] {
			i++
		}
		end = at[i] + 1
	}
	b.WriteString(text[end:])
	return b.String()
}

// secrets are the values to be hidden whole, and the bytes of which no piece may
// stay; both as visible makes them.
func secrets(s Spec) (whole [][]byte, pieces []byte) {
	for word := range bytes.FieldsSeq(s.Opening) {
		if len(word) >= minSecret && bytes.ContainsAny(word, "0123456789") {
			whole = append(whole, word)
		}
	}
	pieces, _ = visible(s.Opening)
	for _, kv := range s.Client.Env {
		k, v, _ := strings.Cut(kv, "=")
		if len(v) < minSecret || slices.Contains(plainNames, k) || strings.HasPrefix(k, "LC_") {
			continue
		}
		value, _ := visible([]byte(v))
		if len(value) >= minSecret {
			whole = append(whole, value)
		}
		if !strings.HasPrefix(v, "/") { // the beginning of a path stands in many texts
			pieces = append(append(pieces, 0), value...)
		}
	}
	return whole, pieces
}

// visible is text without blanks and frames, and where each of its bytes was.
func visible(text []byte) (out []byte, at []int) {
	for i, r := range string(text) {
		if unicode.IsSpace(r) || r == '|' || r >= '─' && r <= '╿' {
			continue
		}
		n := 1 // a byte that is no character counts as itself
		if r != unicode.ReplacementChar || bytes.HasPrefix(text[i:], []byte("�")) {
			n = len(string(r))
		}
		for j := range n {
			out, at = append(out, text[i+j]), append(at, i+j)
		}
	}
	return out, at
}
