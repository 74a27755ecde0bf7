package cli

import (
	"slices"
	"strconv"
	"strings"
)

// line is a command line taken apart by the tree's own flag definitions.
type line struct {
	levels []level  // the verbs it names, the root first
	args   []string // what is neither verb nor flag, up to "--"
	dashes bool     // there was a "--"
	text   []string // everything after it, untouched
	asked  map[string]bool
	dangle bool  // the last word is a flag that still lacks its value
	err    error // the first flag that cannot be right
}

// level is one verb of a line, as typed, with the words that are its flags.
type level struct {
	verb  *verb
	word  string
	flags []string
}

// scan takes words apart: flags are known wherever they stand before "--". A
// flag that takes a value has the next word, whatever it looks like, except
// "--". A word like -5 is a number and not a flag. scan goes on after an error,
// so that --json and --help behind it are still seen.
func scan(root *verb, words []string) line {
	l := line{levels: []level{{verb: root, word: root.Name}}, asked: map[string]bool{}}
	for i := 0; i < len(words); i++ {
		word, here := words[i], &l.levels[len(l.levels)-1]
		switch {
		case word == "--":
			l.dashes, l.text = true, words[i+1:]
			return l
		case isFlag(word):
			here.flags = append(here.flags, word)
			if l.flag(here.verb, word) {
				if l.dangle = i+1 == len(words) || words[i+1] == "--"; l.dangle {
					l.fail(usage(here.verb, "%s needs a value after %s", here.verb.label(), word))
					continue
				}
				i++
				here.flags = append(here.flags, words[i])
			}
		case here.verb.child(word) != nil:
			l.levels = append(l.levels, level{verb: here.verb.child(word), word: word})
		case here.verb.Run == nil:
			l.args = words[i:] // an unknown verb: what its flags mean cannot be known
			l.asked["json"] = slices.Contains(l.args, "--json")
			return l
		default:
			l.args = append(l.args, word)
		}
	}
	return l
}

// flag notes the flag word of v and reports whether its value is the next word.
func (l *line) flag(v *verb, word string) bool {
	name, value, has := strings.Cut(strings.TrimPrefix(word[1:], "-"), "=")
	f := v.flag(name)
	switch {
	case f == nil:
		l.fail(unknownFlag(v, name))
		l.asked["json"] = l.asked["json"] || name == "json" // the error can be a document even so
	case f.TakesValue():
		return !has
	case has:
		l.asked[f.Names()[0]], _ = strconv.ParseBool(value) // what cannot be parsed the library refuses
	default:
		l.asked[f.Names()[0]] = true
	}
	return false
}

func (l *line) fail(err error) {
	if l.err == nil {
		l.err = err
	}
}

// asks reports whether the switch of that name is on.
func (l line) asks(name string) bool { return l.asked[name] }

// verb is the verb the line is about.
func (l line) verb() *verb { return l.levels[len(l.levels)-1].verb }

// ordered is the line as the library reads it right: each verb's flags behind
// it, then "--" and the arguments. A "--" that was typed stays as a second one.
func (l line) ordered() []string {
	var words []string
	for _, lv := range l.levels {
		words = append(append(words, lv.word), lv.flags...)
	}
	words = append(append(words, "--"), l.args...)
	if l.dashes {
		words = append(append(words, "--"), l.text...)
	}
	return words
}

func isFlag(word string) bool {
	return len(word) > 1 && word[0] == '-' && !strings.ContainsRune("0123456789.", rune(word[1]))
}

func unknownFlag(v *verb, name string) error {
	var names []string
	for _, f := range v.Flags {
		names = append(names, f.Names()...)
	}
	text := lacks(v, "flag "+dashed(name))
	if near := nearest(name, names); near != "" {
		text += "; did you mean " + dashed(near) + "?"
	}
	return usage(v, "%s", text)
}

// dashed is a flag's name as people type it.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
