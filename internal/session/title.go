package session

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxTitle is the longest title, in characters.
const MaxTitle = 80

// Title makes s a title: one line, single spaces, no control characters, at most
// MaxTitle characters with an ellipsis for what was cut.
func Title(s string) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "�"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if utf8.RuneCountInString(s) <= MaxTitle {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:MaxTitle-1]), " ") + "…"
}
