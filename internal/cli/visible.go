package cli

import (
	"strings"
	"unicode"
)

// visible is s on one line and unable to do anything to a terminal: every run
// of white space and control characters is one space, what is invisible or
// turns the direction of writing is gone, and invalid bytes show as �.
func visible(s string) string {
	var out strings.Builder
	gap := false
	for _, r := range s { // an invalid byte is U+FFFD here
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r):
			gap = out.Len() > 0
		case unicode.Is(unicode.Cf, r) && r != joiner:
		default:
			if gap {
				out.WriteByte(' ')
				gap = false
			}
			out.WriteRune(r)
		}
	}
	return out.String()
}

// joiner glues emoji together and is the one format character titles need.
const joiner = '\u200d'
