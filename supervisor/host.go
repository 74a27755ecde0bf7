package supervisor

import (
	"sync"
	"time"

	"berth/internal/protocol"
	"berth/manifest"
)

// Bounds of what may wait for a host, in bytes.
const (
	holderQueue = 256 << 10 // beyond it a holder slows the client
	mirrorQueue = 1 << 20   // beyond it a mirror skips ahead to a picture
	sendSize    = 64 << 10  // most put into one frame
)

// host is one terminal that joined. The loop owns it but for its outbox.
type host struct {
	conn *protocol.Conn
	info manifest.Host
	size protocol.Size
	want string

	early []byte // typed while the keyboard was on its way here

	resizing *time.Timer // not nil: a mirror is taking on our size; fires when it takes too long
	late     []byte      // output that waits for that

	stalled  bool        // its bytes were dropped; it gets a picture when it moves again
	mute     bool        // its terminal did not answer in time, and has not since
	progress uint64      // what out.sent was at the last look
	stall    *time.Timer // a look at the progress of a holder that slows the client

	out outbox
}

// outbox is what waits to be sent to a host, with the goroutine that sends it.
type outbox struct {
	mu     sync.Mutex
	cond   *sync.Cond // signals any change
	queue  []frame
	bytes  int    // of Output in queue
	sent   uint64 // frames sent
	busy   bool   // a frame is being sent
	closed bool   // nothing more will be put in
	failed bool   // the connection is gone
	hungry bool   // the loop wants to know when there is room
	ended  chan struct{}
}

// frame is a message to or from a host.
type frame struct {
	host    *host
	kind    protocol.Type
	payload []byte
	err     error // the connection ended
}

func newHost(c *protocol.Conn, g protocol.Greeting) *host {
	h := &host{conn: c, info: g.Host, size: g.Size, want: g.Want}
	h.out.cond = sync.NewCond(&h.out.mu)
	h.out.ended = make(chan struct{})
	h.watchedBy(g.Host.Watchers, g.Host.WatcherTTY)
	return h
}

// watchedBy notes how many people look at a tmux host's pane, and where one of them is.
func (h *host) watchedBy(n int, tty string) {
	switch {
	case n == 0:
		h.info.WatchedSince = ""
	case h.info.WatchedSince == "":
		h.info.WatchedSince = rfc3339(time.Now())
	}
	h.info.Watchers, h.info.WatcherTTY = n, tty
}

// fits reports whether h's terminal has size's columns and rows.
func (h *host) fits(size protocol.Size) bool {
	return h.size.Cols == size.Cols && h.size.Rows == size.Rows
}

// put queues a frame. Output is copied and merged with output that waits already.
func (o *outbox) put(kind protocol.Type, payload []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || o.failed {
		return
	}
	if kind == protocol.Output {
		o.bytes += len(payload)
		if n := len(o.queue); n > 0 && o.queue[n-1].kind == kind && len(o.queue[n-1].payload)+len(payload) <= sendSize {
			o.queue[n-1].payload = append(o.queue[n-1].payload, payload...)
			return
		}
		payload = append(make([]byte, 0, max(len(payload), 4<<10)), payload...)
	}
	o.queue = append(o.queue, frame{kind: kind, payload: payload})
	o.cond.Broadcast()
}

// drop forgets the output that waits: a picture will follow, when the frame that is
// being sent is out. That wakes the loop.
func (o *outbox) drop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hungry = true
	kept := o.queue[:0]
	for _, f := range o.queue {
		if f.kind != protocol.Output {
			kept = append(kept, f)
		}
	}
	o.queue, o.bytes = kept, 0
}

// state is how much output waits and how many frames were ever sent.
func (o *outbox) state() (waiting int, sent uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bytes, o.sent
}

// full reports whether more waits than a holder may leave waiting. If so, the sender
// wakes the loop after its next frame that leaves room.
func (o *outbox) full() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	full := o.bytes > holderQueue
	o.hungry = o.hungry || full
	return full
}

// moves reports whether the host takes what it is sent: nothing is stuck on its way.
func (o *outbox) moves() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.busy
}

// close lets what waits go out and then ends the sender.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.cond.Broadcast()
}

// send sends what is put in, until closed and empty or the connection fails. It
// puts a hint into wake when the loop asked to be woken.
func (h *host) send(wake chan<- struct{}) {
	o := &h.out
	defer close(o.ended)
	for {
		o.mu.Lock()
		for len(o.queue) == 0 && !o.closed {
			o.cond.Wait()
		}
		if len(o.queue) == 0 {
			o.mu.Unlock()
			return
		}
		f := o.queue[0]
		o.queue, o.busy = o.queue[1:], true
		o.mu.Unlock()
		err := h.conn.Send(f.kind, f.payload)
		o.mu.Lock()
		o.busy = false
		if f.kind == protocol.Output {
			o.bytes = max(0, o.bytes-len(f.payload)) // drop may have forgotten it meanwhile
		}
		o.sent++
		o.failed = err != nil
		poke := o.hungry && o.bytes <= holderQueue
		if poke {
			o.hungry = false
		}
		o.mu.Unlock()
		if err != nil {
			return
		}
		if poke {
			select {
			case wake <- struct{}{}:
			default: // a hint is there already
			}
		}
	}
}

// receive brings the host's frames to the loop until its connection ends. Bytes
// typed wait while the client has not read those before.
func (s *loop) receive(h *host) {
	for {
		kind, payload, err := h.conn.Recv()
		if kind == protocol.Input {
			s.terminalIn.Load().room()
		}
		select {
		case s.frames <- frame{h, kind, payload, err}:
		case <-s.gone:
			return
		}
		if err != nil {
			return
		}
	}
}
