package cli

import (
	"berth/internal/session"
	"fmt"
	"strings"
	"time"
)

// many is takes.max for a verb without a limit.
const many = 1 << 30

// takes is how many arguments a verb takes, and what they are called in an
// error: "a session ID".
type takes struct {
	min, max int
	what     string
	find     string // a command that shows what could be given, or ""
}

// check returns a usage error if args are too few or too many.
func (t takes) check(v *verb, args []string) error {
	switch {
	case len(args) < t.min:
		err := usage(v, "%s needs %s", v.label(), t.what)
		if t.find != "" {
			err = err.WithHint("%s", t.find)
		}
		return err
	case t.max == 0 && len(args) > 0:
		return usage(v, "%s takes no arguments, and got %q", v.label(), args[0])
	case len(args) > t.max:
		return usage(v, "%s takes %s, and got %s: %q is one too many", v.label(), t.what, count(len(args), "argument"), args[t.max])
	}
	return nil
}

// notNegative refuses a time below zero.
func notNegative(flag string, d time.Duration) error {
	if d < 0 {
		return session.Errorf(session.Usage, "--%s is a time from now on, not %s", flag, d)
	}
	return nil
}

// count is "1 session" or "3 sessions".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "s") {
		noun += "e"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
