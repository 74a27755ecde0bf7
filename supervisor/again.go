package supervisor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"berth/clients"
	"berth/internal/point"
	"berth/internal/protocol"
	"berth/lock"
	"berth/manifest"
)

// lockRetry is how soon a policy restart tries again when somebody else is changing
// the session. It never waits for that lock: they may be waiting for us.
const lockRetry = 500 * time.Millisecond

// backOff waits, without a client, until the policy starts the next one.
func (s *loop) backOff(d time.Duration) {
	at := time.Now().Add(d)
	s.restarts.NextAt = &at
	s.setPhase(manifest.PhaseBackoff)
	s.event("backing off", map[string]any{"for": d.String(), "failures": s.restarts.Count})
	s.after(d, s.tryAgain)
}

// tryAgain starts the next client, as the policy says, unless somebody has said
// otherwise since. What the last client left behind is ended first.
func (s *loop) tryAgain() {
	if s.phase != manifest.PhaseBackoff { // a request was quicker, and this timer is of then
		return
	}
	if !s.wanted() { // whoever holds the lock may be waiting for us to leave
		s.leaveFor("another client was not wanted any more")
		return
	}
	l, err := lock.Acquire(context.Background(), s.spec.Home.Locks(), s.spec.Session, lock.Launch, "supervisor", 0)
	var held *lock.HeldError
	if errors.As(err, &held) {
		s.after(lockRetry, s.tryAgain)
		return
	}
	if err != nil {
		s.leaveFor(err.Error())
		return
	}
	if !s.wanted() {
		l.Release() //nolint:errcheck // closing a lock file cannot lose anything
		s.leaveFor("another client was not wanted any more")
		return
	}
	tree := s.tree(s.spec.Spare)
	go func() {
		ended, err := clients.EndTree(context.Background(), tree, clients.Grace{})
		s.post(func() {
			defer l.Release() //nolint:errcheck // closing a lock file cannot lose anything
			switch {
			case s.phase != manifest.PhaseBackoff: // a request came meanwhile, and it decides
			case err != nil || len(ended.Left) > 0:
				s.warn(err)
				s.leaveFor(fmt.Sprintf("%d processes of the last client could not be ended", len(ended.Left)))
			default:
				s.restarts.NextAt = nil
				s.restart()
			}
		})
	}()
}

// leaveFor ends the supervisor, which has no client.
func (s *loop) leaveFor(why string) {
	s.event("not restarted", map[string]any{"why": why})
	s.tellEnded(protocol.Ending{Outcome: string(clients.Failed), Code: 1, Message: why})
	s.restarts.NextAt = nil
	s.setPhase(manifest.PhaseEnded)
	s.done = true
}

// restart starts the next client of the run. The life lock stays ours throughout.
func (s *loop) restart() {
	point.Here("supervisor.next-client")
	s.spec.Attempt++
	s.spec.PromptInArgv = false
	if sent, err := s.dir.PromptSent(); err != nil || sent {
		s.spec.Prompt = nil
	}
	var err error
	if !s.sameAgain {
		err = s.spec.Continue(s.native)
	}
	s.sameAgain = false
	if err == nil {
		err = s.spec.Fill()
	}
	if err == nil {
		err = s.takeLaunch()
	}
	if err == nil {
		if err = s.start(); err != nil {
			err = errors.Join(err, s.abandonLaunch())
		}
	}
	if err != nil {
		s.warn(fmt.Errorf("cannot start the next client: %w", err))
		s.leaveFor("the next client could not be started: " + err.Error())
		return
	}
	s.event("restarted", map[string]any{"attempt": s.spec.Attempt})
	s.showAll()
}

func (s *loop) takeLaunch() error {
	if err := s.dir.Prepare(s.spec.Attempt); err != nil {
		return err
	}
	if err := s.dir.Advance(manifest.Prepared, manifest.Launching); err != nil {
		return err
	}
	return s.dir.Advance(manifest.Launching, manifest.Supervised)
}
