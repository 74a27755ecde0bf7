package cli

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"
)

// The groups of the short help, in its order: what people come to do.
const (
	groupStart = "START AND COME BACK"
	groupLook  = "LOOK"
	groupSteer = "STEER AND END"
	groupTend  = "LOOK AFTER BERTH"
)

// verb is one command, or a group of them. Its constructor makes its flags
// anew, with Destination in an options struct that Run closes over.
type verb struct {
	Name     string
	Aliases  []string
	Args     string   // what USAGE shows after the name: "ID…"
	Short    string   // upper case, no period: "Stop sessions"
	Long     string   // a paragraph or two, for DESCRIPTION
	Examples []string // whole lines, two of them
	Group    string   // where the short help lists it; subverbs have none
	Hidden   bool
	Flags    []cli.Flag

	// Takes says how many arguments Run gets; the zero value is none.
	Takes takes

	// Text keeps the words after "--" apart from the arguments, in Env.Text.
	// Without it they are arguments like the others.
	Text bool

	// Complete lists what an argument can be, each "value" or "value\tabout
	// it"; the shell drops what does not fit. Nil: nothing to offer.
	Complete func(context.Context, *Env) []string

	// Run does it. A verb has either Run or Verbs.
	Run   func(context.Context, *Env, *cli.Context) error
	Verbs []*verb

	parent *verb
}

// plainVerb is a process of berth's own. Its arguments are env.Args, as given.
type plainVerb func(ctx context.Context, env *Env) error

// tree puts children under the root verb, berth itself, and gives every verb
// its parent and its --help. Children belong to the tree from then on.
func tree(children []*verb) *verb {
	root := &verb{
		Name:  "berth",
		Args:  "COMMAND",
		Short: "berth keeps coding agents running in durable sessions under tmux",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "version", Usage: "print the version"}},
		Verbs: children,
	}
	root.walk(func(v *verb) {
		v.Flags = append(v.Flags, &cli.BoolFlag{Name: "help", Aliases: []string{"h"}, Usage: "show this help"})
		for _, child := range v.Verbs {
			child.parent = v
		}
	})
	return root
}

// walk calls f for v and everything under it, parents first.
func (v *verb) walk(f func(*verb)) {
	f(v)
	for _, child := range v.Verbs {
		child.walk(f)
	}
}

// names is how v can be called.
func (v *verb) names() []string { return append([]string{v.Name}, v.Aliases...) }

// path is v's whole name: "berth flow show".
func (v *verb) path() string {
	if v.parent == nil {
		return v.Name
	}
	return v.parent.path() + " " + v.Name
}

// label is v's name in an error: its path without the program, which the
// printer puts in front of every error.
func (v *verb) label() string { return strings.TrimPrefix(v.path(), "berth ") }

// child is the verb under v that word names, or nil.
func (v *verb) child(word string) *verb {
	for _, c := range v.Verbs {
		for _, name := range c.names() {
			if name == word {
				return c
			}
		}
	}
	return nil
}

// flag is v's flag of that name, without dashes, or nil.
func (v *verb) flag(name string) cli.DocGenerationFlag {
	for _, f := range v.Flags {
		for _, n := range f.Names() {
			if n == name {
				return f.(cli.DocGenerationFlag)
			}
		}
	}
	return nil
}

// jsonFlag is --json, which Env.JSON answers for every verb that has it.
func jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print one JSON document"}
}
