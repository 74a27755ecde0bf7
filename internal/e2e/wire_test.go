//go:build linux

package e2e

import (
	"path/filepath"
	"sync"
	"testing"

	"berth/clients"
	"berth/internal/protocol"
	"berth/internal/session"
	"berth/manifest"
)

// wireHost is a terminal that speaks to the supervisor itself, and keeps every byte
// apart as the supervisor meant it: what it was painted, and what came after.
type wireHost struct {
	t    *testing.T
	conn *protocol.Conn
	done chan struct{} // closed when the supervisor has hung up

	mu       sync.Mutex // guards what follows
	welcome  bool
	holds    bool
	pictures [][]byte
	output   []byte
	begone   *protocol.Leaving
	refused  *protocol.Refusal
}

// joinWire joins a terminal of that size.
func (w *world) joinWire(r session.Record, want string, cols, rows int) *wireHost {
	w.t.Helper()
	c, err := protocol.Dial(filepath.Join(w.home, "sock", r.Run), patience)
	if err != nil {
		w.t.Fatal(err)
	}
	h := &wireHost{t: w.t, conn: c, done: make(chan struct{})}
	hello := protocol.Greeting{
		Protocol: protocol.Version, MinProtocol: protocol.MinVersion, Run: r.Run, As: protocol.AsHost, Want: want,
		Host: manifest.Host{Kind: manifest.HostTerminal, Process: clients.Self(), TTY: "/dev/pts/wire"},
		Size: protocol.Size{Cols: cols, Rows: rows},
	}
	if err := c.SendJSON(protocol.Hello, hello); err != nil {
		w.t.Fatal(err)
	}
	go h.receive()
	w.t.Cleanup(func() { c.Close(); <-h.done })
	h.until("it is welcome, or not", func() bool { return h.welcome || h.refused != nil })
	return h
}

func (h *wireHost) receive() {
	defer close(h.done)
	for {
		kind, payload, err := h.conn.Recv()
		if err != nil {
			return
		}
		h.mu.Lock()
		switch kind {
		case protocol.Welcome:
			h.welcome = true
		case protocol.Role:
			var r protocol.RoleChange
			if protocol.Decode(kind, payload, &r) == nil {
				h.holds = r.Keyboard
			}
		case protocol.Picture:
			h.pictures = append(h.pictures, payload)
		case protocol.Output:
			h.output = append(h.output, payload...)
		case protocol.Begone:
			h.begone = new(protocol.Leaving)
			protocol.Decode(kind, payload, h.begone)
		case protocol.Refused:
			h.refused = new(protocol.Refusal)
			protocol.Decode(kind, payload, h.refused)
		}
		h.mu.Unlock()
	}
}

// until waits until cond holds, which may look at all that is guarded.
func (h *wireHost) until(what string, cond func() bool) {
	h.t.Helper()
	held := within(patience, func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return cond()
	})
	if !held {
		h.t.Fatalf("never: %s", what)
	}
}

func (h *wireHost) hasKeyboard() {
	h.t.Helper()
	h.until("it has the keyboard", func() bool { return h.holds && len(h.pictures) > 0 })
}

func (h *wireHost) typeIn(s string) {
	h.t.Helper()
	if err := h.conn.Send(protocol.Input, []byte(s)); err != nil {
		h.t.Fatal(err)
	}
}
