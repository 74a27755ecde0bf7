package control

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"berth/clients"
	"berth/internal/point"
	"berth/internal/protocol"
	"berth/internal/session"
	"berth/launcher"
	"berth/manifest"
)

// Why a supervisor did not carry out a request; what is left to do is ours then.
var (
	errSilent = errors.New("the supervisor neither answers nor works")
	errLeft   = errors.New("the supervisor left before it saw the request")
	errMute   = errors.New("the request cannot be written")
)

// ask requests the end from the supervisor and waits until it is carried out.
func (c *Control) ask(ctx context.Context, t target, r launcher.Readiness, kind, reason string, inside bool, release func()) (manifest.Done, error) {
	req, err := t.dir.AddRequest(manifest.Request{
		Kind: kind, Client: r.Client.Receipt.Process, Reason: reason, By: c.by(), Spare: c.Agents.Spare,
		Deadline: manifest.Monotonic() + int64(endWait),
	})
	if err != nil {
		return manifest.Done{}, fmt.Errorf("%w: %w", errMute, err)
	}
	point.Here("command.requested")
	w := manifest.Watch(string(t.dir), t.dir.Path("requests"))
	defer w.Close()
	if inside {
		release()
	}
	c.ring(t, r)
	if inside {
		return manifest.Done{}, nil
	}
	var left <-chan struct{} // nil where it is not known who the supervisor is: its record is damaged
	if !r.Super.Process.IsZero() {
		super, err := clients.Open(r.Super.Process)
		switch {
		case err == nil:
			defer super.Close()
			left = super.Done()
		case errors.Is(err, clients.ErrNoProcess):
			over := make(chan struct{})
			close(over)
			left = over
		default:
			return manifest.Done{}, err
		}
	}
	gone := false
	accept, carry := time.After(acceptWait), time.After(endWait)
	accepted := false
	for {
		done, ok, err := t.dir.Answered(req.Seq)
		if err != nil {
			return done, session.Errorf(session.Unknown, "%w", err)
		}
		if ok {
			return done, c.judge(t, done)
		}
		if s, err := t.dir.Supervisor(); err == nil && s.Request >= req.Seq {
			accepted = true
		}
		if gone { // and what it wrote last has been seen
			return manifest.Done{}, errLeft
		}
		select {
		case <-w.C:
		case <-left:
			gone = true
		case <-accept:
			if !accepted {
				return manifest.Done{}, errSilent
			}
		case <-carry:
			return manifest.Done{}, errSilent
		case <-ctx.Done():
			return manifest.Done{}, context.Cause(ctx)
		}
	}
}

// judge is the error of an answer that is not a success.
func (c *Control) judge(t target, d manifest.Done) error {
	switch {
	case len(d.Left) > 0:
		return session.Errorf(session.Failed, "cannot end all of session %s: still there are pids %s%s", t.ID, pids(d.Left), because(d.Message)).
			WithHint("berth stop %s   # tries again", t.ID)
	case !d.OK:
		return session.Errorf(session.Stale, "the supervisor of session %s refused: %s", t.ID, d.Message).
			WithHint("berth show %s", t.ID)
	}
	return nil
}

func because(msg string) string {
	if msg == "" {
		return ""
	}
	return " (" + msg + ")"
}

func pids(ps []int) string {
	var b strings.Builder
	for i, p := range ps {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, p)
	}
	return b.String()
}

// ring is the doorbell: the supervisor looks at its requests at once. It saw the
// file itself, or will; so a bell that cannot be rung is no error.
func (c *Control) ring(t target, r launcher.Readiness) {
	if point.Switch("no-doorbell") {
		return
	}
	launcher.Ring(c.Home.RunSocket(t.CurrentRun), protocol.Greeting{As: protocol.AsBell, Run: t.CurrentRun, Supervisor: r.Super.Process}, dialWait) //nolint:errcheck // see above
}
