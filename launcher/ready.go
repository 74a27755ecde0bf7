package launcher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"berth/clients"
	"berth/internal/provider"
	"berth/internal/session"
	"berth/manifest"
)

// Readiness is what the run directory says of the newest client of a run.
type Readiness struct {
	Phase  session.Phase
	Reason string // what is missing; "" when resumable
	Client clients.Client
	Life   clients.Liveness
	Native manifest.Native
	Super  manifest.Supervisor
}

// Resumable reports whether the conversation can be resumed and is alive.
func (r Readiness) Resumable() bool { return r.Phase == session.Resumable }

// Look reads how far the newest client of a run has come. An error means that
// evidence could not be read, so nothing may be concluded but what the client's Life
// says, where that is not unknown.
func Look(d manifest.Dir, p provider.Provider) (Readiness, error) {
	var r Readiness
	cs, err := clients.Read(string(d))
	if err != nil {
		return r, session.Errorf(session.Unknown, "cannot read the clients of %s: %w", d, err)
	}
	r.Client, r.Life = clients.Current(cs)
	var nerr, serr error
	r.Native, nerr = d.Native()
	r.Super, serr = d.Supervisor()
	if err := errors.Join(nerr, serr, r.Client.Err); err != nil {
		return r, session.Errorf(session.Unknown, "%w", err)
	}
	r.Phase, r.Reason = r.phase(p, len(cs) > 0)
	return r, nil
}

// whyNone says, of a client that has ended, what becomes of its restart policy.
func (r Readiness) whyNone() string {
	again := r.Super.Restarts
	switch {
	case again.Held:
		return fmt.Sprintf("its client failed %d times within ten minutes, so no other is started; berth restart starts it, and the count, again", len(again.Failures))
	case again.NextAt != nil && clients.Check(r.Super.Process).Status == clients.Live:
		return "its client has ended; the next is started at " + again.NextAt.Local().Format("15:04:05")
	}
	return "its client has ended"
}

func (r Readiness) phase(p provider.Provider, any bool) (session.Phase, string) {
	switch {
	case !any:
		return session.Starting, "its client has not started yet"
	case r.Life.Status == clients.Dead:
		return session.Ended, r.whyNone()
	case r.Life.Status == clients.Unknown:
		return session.PhaseUnknown, r.Life.Reason
	case !p.CanResume():
		return session.Running, "provider cannot resume"
	case r.Super.Turn.State == manifest.TurnBlocked && !r.Super.Ready, r.Super.Turn.State == manifest.TurnWaiting && !r.Native.Recorded:
		return session.Blocked, fmt.Sprintf("%s waits for %s", p.Name, cmp.Or(r.Super.Turn.WaitingFor, "an answer"))
	case r.Native.NativeID == "" && p.LateID && r.Super.Prompt == manifest.PromptNone:
		return session.Running, session.NothingSaid
	case r.Native.NativeID == "":
		return session.Running, fmt.Sprintf("%s has not announced a native id", p.Name)
	case r.Native.Recorded && p.ShowsReady() && !r.Super.Ready:
		return session.Identified, fmt.Sprintf("%s has not taken the conversation up yet", p.Name)
	case r.Native.Recorded:
		return session.Resumable, ""
	case r.Super.Prompt == manifest.PromptWaiting && r.Super.Ready:
		return session.Identified, "the opening request could not be sent; supervisor.log in its run directory says why"
	case r.Super.Prompt == manifest.PromptWaiting:
		return session.Identified, fmt.Sprintf("%s is not ready for the opening request yet", p.Name)
	case p.History == "":
		return session.Resumable, ""
	case r.Super.Prompt == manifest.PromptNone:
		return session.Identified, session.NothingSaid
	}
	return session.Identified, fmt.Sprintf("%s has not recorded the conversation yet", p.Name)
}

// Elsewhere reports whether the agent waits for another process that has the
// conversation.
func (r Readiness) Elsewhere(p provider.Provider) bool {
	return r.Phase == session.Blocked && p.Elsewhere(r.Super.Turn.WaitingFor)
}

// Settled reports whether waiting for more is pointless: it is resumable, it ended,
// or it is as far as it will get by itself.
func (r Readiness) Settled(p provider.Provider) bool {
	switch r.Phase {
	case session.Resumable:
		return true
	case session.Ended: // how is written down, and no policy starts the next
		return r.Super.Phase == manifest.PhaseEnded || clients.Check(r.Super.Process).Status != clients.Live
	case session.Blocked: // by somebody who would have to be asked first
		return r.Elsewhere(p)
	case session.Running:
		if !p.CanResume() {
			return true
		}
	}
	return r.Reason == session.NothingSaid && (r.Super.Ready || p.Ready == provider.ReadyStart)
}

// aliveFor is how long a client has to live before its receipt alone counts for
// something: a program that ends at once has ended by then, and is told as that.
const aliveFor = 300 * time.Millisecond

// unproven is how much longer a client that announces nothing has to live.
func (r Readiness) unproven(p provider.Provider) time.Duration {
	if r.Life.Status != clients.Live || p.CanResume() && p.History != "" {
		return 0
	}
	return aliveFor - time.Since(r.Client.Receipt.StartedAt)
}

// AwaitResumable waits until the readiness of a run is settled or ctx ends, and
// returns the last one seen.
func AwaitResumable(ctx context.Context, d manifest.Dir, p provider.Provider) (Readiness, error) {
	return Await(ctx, d, p, func(r Readiness) (bool, time.Duration, error) {
		wait := r.unproven(p)
		return r.Settled(p) && wait <= 0, wait, nil
	})
}

// Await looks at a run until enough says that it has seen enough, or ctx ends, and returns
// the last look. Files and the client's own end wake it, and so does the time that enough
// asks for; zero or less is none.
func Await(ctx context.Context, d manifest.Dir, p provider.Provider, enough func(Readiness) (bool, time.Duration, error)) (Readiness, error) {
	w := manifest.Watch(string(d))
	defer w.Close()
	var ended <-chan struct{}
	var held clients.Identity
	for {
		r, err := Look(d, p)
		if err != nil {
			return r, err
		}
		done, again, err := enough(r)
		if done || err != nil {
			return r, err
		}
		var due <-chan time.Time
		if again > 0 {
			due = time.After(again)
		}
		if id := r.Client.Receipt.Process; id != held && r.Life.Status == clients.Live {
			if h, err := clients.Open(id); err == nil {
				defer h.Close()
				ended, held = h.Done(), id
			}
		}
		select {
		case <-ctx.Done():
			return r, nil
		case <-w.C:
		case <-due:
		case <-ended:
			ended = nil // the end's record follows, and wakes us
		}
	}
}
