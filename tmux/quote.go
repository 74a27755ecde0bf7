package tmux

import "strings"

// word makes arg one word of a client's argv: a ';' at the end of an argument
// would separate commands.
func word(arg string) string {
	if strings.HasSuffix(arg, ";") {
		return arg[:len(arg)-1] + `\;`
	}
	return arg
}

func words(argv []string) []string {
	out := make([]string, len(argv))
	for i, a := range argv {
		out[i] = word(a)
	}
	return out
}

// quote makes s one word for sh: nothing is expanded inside single quotes.
func quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// confWord makes s one word for tmux's parser, which reads quotes as sh does, but
// takes the byte 0xff for the end of its text.
func confWord(s string) string {
	return strings.ReplaceAll(quote(s), "\xff", `'\377'`)
}

// quoteAll joins argv, each word quoted for its reader.
func quoteAll(argv []string, quote func(string) string) string {
	out := make([]string, len(argv))
	for i, a := range argv {
		out[i] = quote(a)
	}
	return strings.Join(out, " ")
}

// shellLine is argv for people to paste: quoted only where sh would see more than a word.
func shellLine(argv []string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+,"
	out := make([]string, len(argv))
	for i, a := range argv {
		if out[i] = a; a == "" || strings.Trim(a, plain) != "" {
			out[i] = quote(a)
		}
	}
	return strings.Join(out, " ")
}

// literal protects s where tmux expands formats.
func literal(s string) string { return strings.ReplaceAll(s, "#", "##") }

// unglob protects a path where tmux expands patterns (source-file).
func unglob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
