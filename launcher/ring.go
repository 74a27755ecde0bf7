package launcher

import (
	"time"

	"berth/internal/protocol"
)

// Ring has the supervisor at the socket look at its run directory now (g.As is
// protocol.AsBell), or at who watches its pane (AsLook). It returns when the
// supervisor has heard; g says which one is meant.
func Ring(socket string, g protocol.Greeting, wait time.Duration) error {
	conn, err := protocol.Dial(socket, wait)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // rung
	if err := conn.SetDeadline(time.Now().Add(wait)); err != nil {
		return err
	}
	g.Protocol, g.MinProtocol = protocol.Version, protocol.MinVersion
	if err := conn.SendJSON(protocol.Hello, g); err != nil {
		return err
	}
	kind, payload, err := conn.Recv()
	if err != nil || kind != protocol.Refused {
		return err
	}
	var r protocol.Refusal
	if err := protocol.Decode(kind, payload, &r); err != nil {
		return err
	}
	return r.Err()
}
