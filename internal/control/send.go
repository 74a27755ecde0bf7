package control

import (
	"context"
	"time"

	"berth/clients"
	"berth/internal/protocol"
	"berth/internal/session"
	"berth/launcher"
)

// sendWait is how long a message may take: to be typed, and to be seen to be taken.
const sendWait = 30 * time.Second

// Send types a message into the session's agent. One with this id is typed at most once
// in a run. The error is of class Unconfirmed when it went out, or may have, and the
// agent has not shown that it took it.
func (c *Control) Send(ctx context.Context, ref, id, text string) (sessionID string, receipt protocol.Receipt, err error) {
	t, err := c.find(ctx, ref)
	if err != nil {
		return "", receipt, err
	}
	receipt, err = c.send(t, id, text)
	return t.ID, receipt, err
}

func (c *Control) send(t target, id, text string) (receipt protocol.Receipt, err error) {
	if t.ClosedAt != nil {
		return receipt, closed(t)
	}
	r, err := launcher.Look(t.dir, t.agent)
	switch {
	case err != nil:
		return receipt, err
	case r.Life.Status == clients.Dead:
		return receipt, session.Errorf(session.Refused, "session %s is not running", t.ID).WithHint("berth restart %s", t.ID)
	case r.Life.Status == clients.Unknown:
		return receipt, session.Errorf(session.Unknown, "cannot tell whether session %s runs: %s", t.ID, r.Life.Reason).WithHint("berth show %s", t.ID)
	case clients.Check(r.Super.Process).Status == clients.Dead:
		return receipt, orphaned(t, r)
	}
	conn, err := protocol.Dial(c.Home.RunSocket(t.CurrentRun), drawWait)
	if err != nil {
		return receipt, session.Errorf(session.Unknown, "nothing was sent: cannot reach the supervisor of session %s: %w", t.ID, err).WithHint("berth show %s", t.ID)
	}
	defer conn.Close() //nolint:errcheck // done with it
	hello := protocol.Greeting{
		Protocol: protocol.Version, MinProtocol: protocol.MinVersion, Version: c.Caller.Version, Run: t.CurrentRun,
		As: protocol.AsSend, Client: r.Client.Receipt.Process, Message: &protocol.Message{ID: id, Text: text},
	}
	lost := func(err error) error {
		return session.Errorf(session.Unconfirmed, "message %s went to session %s, and its supervisor did not say what became of it: %w", id, t.ID, err).
			WithHint("berth capture %s; berth send %[1]s --id %s …   # is not typed twice", t.ID, id)
	}
	if err := conn.SetDeadline(time.Now().Add(sendWait)); err != nil {
		return receipt, err
	}
	if err := conn.SendJSON(protocol.Hello, hello); err != nil {
		return receipt, lost(err)
	}
	for {
		kind, payload, err := conn.Recv()
		if err != nil {
			return receipt, lost(err)
		}
		switch kind {
		case protocol.Refused:
			var refusal protocol.Refusal
			if err := protocol.Decode(kind, payload, &refusal); err != nil {
				return receipt, err
			}
			return receipt, refusal.Err()
		case protocol.Taken:
			if err := protocol.Decode(kind, payload, &receipt); err != nil {
				return receipt, err
			}
			if !receipt.Proven && !receipt.Already {
				return receipt, session.Errorf(session.Unconfirmed, "message %s was typed into session %s, and %s has not shown that it took it", id, t.ID, t.Provider).
					WithHint("berth capture %s", t.ID)
			}
			return receipt, nil
		}
	}
}
