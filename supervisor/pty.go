package supervisor

import (
	"os"
	"sync"
)

// chunkSize is the most read of the client's terminal at a time, in bytes. The
// kernel hands over at most 4 KiB of a PTY in one read; more is room for others.
const chunkSize = 32 << 10

// chunks is how many reads may be on their way: enough that reading and
// distributing overlap, few enough that back pressure is felt at once.
const chunks = 4

// inputRoom is how many bytes typed by hosts may wait for the client before hosts
// have to wait, too: more than anybody pastes, since behind what waits there may be
// the word that the host leaves, and a client that is stuck never reads.
const inputRoom = 16 << 20

// ptyIO moves bytes between the loop and our side of the client's terminal.
type ptyIO struct {
	file *os.File
	out  chan []byte   // what the client wrote; each chunk goes back through free
	free chan []byte   // buffers
	eof  chan struct{} // closed when nothing more will come
	gone chan struct{} // closed by close: nobody takes what is read any more

	mu      sync.Mutex // guards what follows
	cond    *sync.Cond // signals any change of it
	in      []typing
	waiting int // bytes in in
	closed  bool
}

// typing is something to write to the client's terminal.
type typing struct {
	data []byte
	then func() // called when data was written; never if it was not
}

func newPTY(f *os.File) *ptyIO {
	p := &ptyIO{file: f, out: make(chan []byte, chunks), free: make(chan []byte, chunks), eof: make(chan struct{}), gone: make(chan struct{})}
	p.cond = sync.NewCond(&p.mu)
	for range chunks {
		p.free <- make([]byte, chunkSize)
	}
	go p.read()
	go p.write()
	return p
}

// read reads until the terminal's end, which is EIO: every process that had it open
// is gone, or we closed our side.
func (p *ptyIO) read() {
	defer close(p.eof)
	for {
		var buf []byte
		select {
		case buf = <-p.free:
		case <-p.gone:
			return
		}
		n, err := p.file.Read(buf[:chunkSize])
		if n > 0 {
			select {
			case p.out <- buf[:n]:
			case <-p.gone:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// write writes what was typed, in order. A client that does not read makes it wait,
// and nobody else.
func (p *ptyIO) write() {
	for {
		p.mu.Lock()
		for len(p.in) == 0 && !p.closed {
			p.cond.Wait()
		}
		if len(p.in) == 0 {
			p.mu.Unlock()
			return
		}
		t := p.in[0]
		p.in = p.in[1:]
		p.mu.Unlock()
		_, err := p.file.Write(t.data) // the client's end is known from its process
		if err == nil && t.then != nil {
			t.then()
		}
		p.mu.Lock()
		p.waiting -= len(t.data)
		p.cond.Broadcast()
		p.mu.Unlock()
	}
}

// typeIn has t written after all that was typed before. It never blocks.
func (p *ptyIO) typeIn(t typing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.in = append(p.in, t)
	p.waiting += len(t.data)
	p.cond.Broadcast()
}

// room waits until the client has read enough that more may be typed.
func (p *ptyIO) room() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.waiting > inputRoom && !p.closed {
		p.cond.Wait()
	}
}

// close ends both directions; a second call does nothing. Data not yet written is lost; its reader is gone.
func (p *ptyIO) close() {
	p.mu.Lock()
	again := p.closed
	p.closed, p.in = true, nil
	p.cond.Broadcast()
	p.mu.Unlock()
	if again {
		return
	}
	close(p.gone)
	p.file.Close() //nolint:errcheck // nothing is buffered in it
}
