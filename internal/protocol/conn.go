package protocol

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Version is the newest protocol this berth speaks, MinVersion the oldest.
const (
	Version    = 1
	MinVersion = 1
)

// MaxFrame is the largest payload of a frame, in bytes.
const MaxFrame = 1 << 20

// Type is the first byte of a frame.
type Type byte

// Frame types. Those marked JSON carry one document, the others raw bytes.
const (
	Hello   Type = 'h' // first frame of whoever connects (JSON Greeting)
	Welcome Type = 'w' // the supervisor takes it (JSON Greeting)
	Refused Type = 'r' // the supervisor does not (JSON Refusal); then it closes

	Output  Type = 'o' // supervisor → host: bytes for the screen
	Picture Type = 'p' // supervisor → host: forget the screen; these bytes draw it again
	Role    Type = 'k' // supervisor → host: keyboard or mirror, and the size (JSON RoleChange)
	Ended   Type = 'e' // supervisor → host: the client ended (JSON Ending)
	Look    Type = 'l' // supervisor → tmux host: count your watchers and say Watched
	Query   Type = 'q' // supervisor → holder: ask your terminal this, answer with Reply
	Fence   Type = 'f' // supervisor → tmux host: say Fenced when your pane shows all that came before
	Snap    Type = 't' // supervisor → tmux host: say Snapped with what your pane shows of all that came before
	Taken   Type = 'v' // supervisor → command: what became of the message (JSON Receipt)
	Begone  Type = 'g' // supervisor → host: leave as if the person had (JSON Leaving)

	Input   Type = 'i' // host → supervisor: bytes typed
	Resize  Type = 's' // host → supervisor: the terminal's size (JSON Size)
	Reply   Type = 'a' // host → supervisor: the terminal's answer to Query
	Watched Type = 'n' // tmux host → supervisor: how many watch (JSON Watchers)
	Fenced  Type = 'd' // tmux host → supervisor: the answer to Fence
	Snapped Type = 'c' // tmux host → supervisor: the answer to Snap (JSON Snapshot)
	Leave   Type = 'b' // host → supervisor: it goes, and why (JSON Leaving)
)

var errTooLarge = errors.New("frame too large")

// Conn frames messages on a connection: a byte of type, four bytes of length (big
// endian), the payload. One goroutine may receive while any number send.
type Conn struct {
	nc net.Conn
	r  *bufio.Reader

	mu sync.Mutex // guards writes, so that frames do not mix
}

// NewConn frames nc, which Close closes.
func NewConn(nc net.Conn) *Conn { return &Conn{nc: nc, r: bufio.NewReaderSize(nc, 64<<10)} }

// Close closes the connection.
func (c *Conn) Close() error { return c.nc.Close() }

// SetDeadline bounds all reads and writes; the zero time lifts the bound.
func (c *Conn) SetDeadline(t time.Time) error { return c.nc.SetDeadline(t) }

// Send writes one frame in one system call. Payload is at most MaxFrame bytes.
func (c *Conn) Send(t Type, payload []byte) error {
	if len(payload) > MaxFrame {
		return errTooLarge
	}
	var head [5]byte
	head[0] = byte(t)
	binary.BigEndian.PutUint32(head[1:], uint32(len(payload)))
	c.mu.Lock()
	defer c.mu.Unlock()
	bufs := net.Buffers{head[:], payload}
	_, err := bufs.WriteTo(c.nc)
	return err
}

// SendJSON sends v as the payload.
func (c *Conn) SendJSON(t Type, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.Send(t, b)
}

// Recv reads one frame. The payload is the caller's. At the end of the connection
// the error is io.EOF.
func (c *Conn) Recv() (Type, []byte, error) { return ReadFrame(c.r) }

// ReadFrame decodes one frame. A frame longer than MaxFrame is an error, before
// anything is allocated for it; a cut one is io.ErrUnexpectedEOF.
func ReadFrame(r io.Reader) (Type, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > MaxFrame {
		return 0, nil, errTooLarge
	}
	payload := make([]byte, n)
	if _, err := io.ReadFull(r, payload); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	return Type(head[0]), payload, nil
}

// Listen makes the socket at path, mode 0600, in place of a stale one: the caller
// holds the life lock, so nobody else can be listening there. Whoever finds it there
// is heard: it gets its name, as long as the other it has first, when it listens.
func Listen(path string) (*net.UnixListener, error) {
	first := filepath.Join(filepath.Dir(path), "~"+filepath.Base(path)[1:])
	if err := os.Remove(first); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("cannot make socket: %w", err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: first, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("cannot make socket: %w", err)
	}
	l.SetUnlinkOnClose(false) // by the time of close another may have made its own there
	if err = os.Chmod(first, 0o600); err == nil {
		err = os.Rename(first, path)
	}
	if err != nil {
		l.Close() //nolint:errcheck // it never got its name
		return nil, fmt.Errorf("cannot make socket: %w", err)
	}
	return l, nil
}

// Dial connects to the supervisor listening at path, if that process is ours.
func Dial(path string, timeout time.Duration) (*Conn, error) {
	nc, err := net.DialTimeout("unix", path, timeout)
	if err != nil {
		return nil, err
	}
	if err := CheckPeer(nc); err != nil {
		nc.Close() //nolint:errcheck // refused
		return nil, err
	}
	return NewConn(nc), nil
}

// CheckPeer refuses a peer of another user.
func CheckPeer(nc net.Conn) error {
	uc, ok := nc.(*net.UnixConn)
	if !ok {
		return fmt.Errorf("cannot tell who is at the other end of %s", nc.LocalAddr())
	}
	raw, err := uc.SyscallConn()
	if err != nil {
		return err
	}
	var uid int
	var perr error
	if err := raw.Control(func(fd uintptr) { uid, perr = peerUID(int(fd)) }); err != nil {
		return err
	}
	if perr != nil {
		return fmt.Errorf("cannot tell who is at the other end: %w", perr)
	}
	if uid != os.Geteuid() {
		return fmt.Errorf("refusing a peer of uid %d, we are uid %d", uid, os.Geteuid())
	}
	return nil
}
