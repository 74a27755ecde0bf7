package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"berth/clients"
	"berth/internal/session"
	"berth/launcher"
	"berth/manifest"
)

// What a session can be waited for to be.
const (
	ForResumable = "resumable"
	ForIdle      = "idle"      // its agent takes a message
	ForAttention = "attention" // it waits for a person
	ForExit      = "exit"      // no client lives, and no policy starts the next
)

// ForAnswer is that a turn has ended, and the agent takes a message.
const ForAnswer = "done with its first turn"

// WaitFor are those a person can name.
var WaitFor = []string{ForResumable, ForIdle, ForAttention, ForExit}

// Wait waits until the session is so, or ctx ends: that error is of class TimedOut when
// it is a deadline. One that will not be so by waiting is an error at once. The record
// is of the end of the wait.
func (c *Control) Wait(ctx context.Context, ref, what string) (session.Record, error) {
	t, err := c.find(ctx, ref)
	if err != nil {
		return session.Record{}, err
	}
	err = c.wait(ctx, t, what)
	t, ferr := c.find(context.WithoutCancel(ctx), t.ID)
	return c.record(t), errors.Join(err, ferr)
}

func (c *Control) wait(ctx context.Context, t target, what string) error {
	so := false
	r, err := launcher.Await(ctx, t.dir, t.agent, func(r launcher.Readiness) (_ bool, _ time.Duration, err error) {
		so, err = is(t, r, what)
		return so, 0, err
	})
	switch {
	case so || err != nil:
		return err
	case !errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return context.Cause(ctx)
	}
	return session.Errorf(session.TimedOut, "session %s is not %s yet: %s", t.ID, what, standing(r)).WithHint("berth show %s", t.ID)
}

// standing is how far a client has come, in words.
func standing(r launcher.Readiness) string {
	words := []string{string(r.Phase)}
	if turn := r.Super.Turn; turn.State != "" && r.Life.Status == clients.Live {
		words = append(words, turn.State+" since "+turn.Since)
	}
	if r.Reason != "" {
		words = append(words, r.Reason)
	}
	return strings.Join(words, ", ")
}

// is reports whether the session is so; an error means that it will not be.
func is(t target, r launcher.Readiness, what string) (bool, error) {
	turn := r.Super.Turn
	gone := r.Life.Status == clients.Dead && (r.Super.Phase == manifest.PhaseEnded || clients.Check(r.Super.Process).Status == clients.Dead) &&
		!r.Client.Receipt.Process.IsZero()
	switch {
	case what == ForExit:
		return gone, nil
	case what == ForAttention:
		return attention(turn, r.Life.Status == clients.Live), over(t, r, gone && !attention(turn, false))
	case gone:
		return false, over(t, r, true)
	case what == ForResumable:
		if !t.agent.CanResume() {
			return false, session.Errorf(session.Refused, "session %s will not be resumable: provider %s has no way to resume", t.ID, t.Provider)
		}
		return r.Resumable(), nil
	case !t.agent.TellsTurns():
		return false, session.Errorf(session.Refused, "session %s cannot be waited for: provider %s does not tell when it is idle", t.ID, t.Provider).
			WithHint("berth capture %s", t.ID)
	}
	return r.Life.Status == clients.Live && r.Super.Ready && turn.State == manifest.TurnIdle && (what != ForAnswer || turn.Ended > 0), nil
}

// over is the error of a wait for a client that has ended, if it has.
func over(t target, r launcher.Readiness, gone bool) error {
	if !gone {
		return nil
	}
	return session.Errorf(session.Failed, "session %s is not running any more: %s", t.ID, ended(r)).WithHint("berth restart %s", t.ID)
}

func ended(r launcher.Readiness) string {
	if e := r.Client.End; e != nil {
		return e.Text()
	}
	return fmt.Sprintf("its end was not seen (%s)", r.Life.Reason)
}

// attention reports whether a person is waited for: by an agent that asks something, or
// after a turn that has ended and was not answered.
func attention(turn manifest.Turn, live bool) bool {
	switch turn.State {
	case manifest.TurnWaiting, manifest.TurnBlocked:
		return live
	case manifest.TurnBusy:
		return !live && turn.Ended > 0
	}
	return turn.Ended > 0
}

// CheckWait refuses a word that is none of WaitFor.
func CheckWait(what string) error {
	if !slices.Contains(WaitFor, what) {
		return session.Errorf(session.Usage, "--for is %s, not %q", strings.Join(WaitFor, ", "), what)
	}
	return nil
}
