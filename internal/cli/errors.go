package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"berth/internal/session"
)

// failure is what berth says of an error. It is the "error" of the JSON
// document in docs/exit-codes.md.
type failure struct {
	Class   string `json:"class"`
	Exit    int    `json:"exit"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

// finish prints err, if there is one to print, and returns the exit status: for
// people on Err; with --json also as a document on Out, unless something is
// there already.
func (e *Env) finish(ctx context.Context, err error) int {
	if err == nil {
		return 0
	}
	if status, ok := errors.AsType[ExitStatus](err); ok {
		return status.Code
	}
	f := judge(ctx, err)
	if e.JSON && !*e.wrote {
		err := printJSON(e.Out, struct {
			Error failure `json:"error"`
		}{f})
		if err != nil {
			fmt.Fprintf(e.Err, "berth: %s\n", visible(err.Error()))
		}
	}
	printFailure(e.Err, f)
	return f.Exit
}

// judge finds class, status and words for err. After ctrl-C every error is the
// interruption: an error with a class keeps its words, since a verb chose them,
// and any other is only the echo of the cancelled context.
func judge(ctx context.Context, err error) failure {
	f := failure{Message: err.Error(), Hint: session.HintOf(err)}
	row := exitOf(session.ClassOf(err))
	if interrupted(ctx) {
		row = exitInterrupted
		if _, chosen := errors.AsType[*session.Error](err); !chosen {
			f.Message = row.name
		}
	}
	f.Class, f.Exit = row.name, row.status
	return f
}

// printFailure prints the message and what to type next. Further lines of a
// message are indented under the first.
func printFailure(w io.Writer, f failure) {
	lines := strings.Split(strings.TrimRight(f.Message, "\n"), "\n")
	for i, line := range lines {
		lines[i] = visible(line)
	}
	text := "berth: " + strings.Join(lines, "\n  ") + "\n"
	if f.Hint != "" {
		text += "  try: " + visible(f.Hint) + "\n"
	}
	io.WriteString(w, text) //nolint:errcheck // there is nobody left to tell
}
