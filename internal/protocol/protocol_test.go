package protocol

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/clients"
	"berth/internal/session"
	"berth/manifest"
)

// pair is two ends of one connection of this process.
func pair(t *testing.T) (*Conn, *Conn) {
	t.Helper()
	a, b := net.Pipe()
	t.Cleanup(func() { a.Close(); b.Close() })
	deadline := time.Now().Add(30 * time.Second)
	if err := errors.Join(a.SetDeadline(deadline), b.SetDeadline(deadline)); err != nil {
		t.Fatal(err)
	}
	return NewConn(a), NewConn(b)
}

func TestFramesArriveWhole(t *testing.T) {
	a, b := pair(t)
	payloads := [][]byte{nil, []byte("x"), bytes.Repeat([]byte("long "), 20000), make([]byte, MaxFrame), []byte("\x00\xff\x1b")}
	go func() {
		for _, p := range payloads {
			a.Send(Output, p)
		}
		a.Close()
	}()
	for i, want := range payloads {
		kind, got, err := b.Recv()
		if err != nil || kind != Output || !bytes.Equal(got, want) {
			t.Fatalf("frame %d: %q, %d bytes of %d, %v", i, kind, len(got), len(want), err)
		}
	}
	if _, _, err := b.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

func TestManySendersDoNotMixFrames(t *testing.T) {
	a, b := pair(t)
	const senders, each = 8, 50
	var all sync.WaitGroup
	for i := range senders {
		all.Go(func() {
			for range each {
				if err := a.Send(Type('A'+i), bytes.Repeat([]byte{byte('A' + i)}, 100+i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range senders * each {
		kind, payload, err := b.Recv()
		if err != nil || strings.Trim(string(payload), string(rune(kind))) != "" || len(payload) != 100+int(kind-'A') {
			t.Fatalf("%q: %q, %v", kind, payload, err)
		}
	}
	all.Wait()
}

func TestBadFrames(t *testing.T) {
	for _, c := range []struct {
		name, bytes string
		is          error
	}{
		{"nothing", "", io.EOF},
		{"cut in its head", "o\x00\x00", io.ErrUnexpectedEOF},
		{"cut after its head", "o\x00\x00\x00\x05", io.ErrUnexpectedEOF},
		{"cut in its payload", "o\x00\x00\x00\x05ab", io.ErrUnexpectedEOF},
		{"too large", "o\xff\xff\xff\xff", errTooLarge},
		{"one byte too large", "o\x00\x10\x00\x01", errTooLarge},
	} {
		if _, _, err := ReadFrame(strings.NewReader(c.bytes)); !errors.Is(err, c.is) {
			t.Errorf("%s: %v, want %v", c.name, err, c.is)
		}
	}
	a, _ := pair(t)
	if err := a.Send(Output, make([]byte, MaxFrame+1)); !errors.Is(err, errTooLarge) {
		t.Errorf("sent: %v", err)
	}
}

func TestNegotiate(t *testing.T) {
	for _, c := range []struct {
		name          string
		min, max, use int
		fails         bool
	}{
		{"the same", MinVersion, Version, Version, false},
		{"a newer one that knows ours", MinVersion, Version + 5, Version, false},
		{"a newer one that does not", Version + 1, Version + 5, 0, true},
		{"an older one", MinVersion - 2, MinVersion - 1, 0, true},
	} {
		use, err := Negotiate(c.min, c.max)
		if use != c.use || (err != nil) != c.fails {
			t.Errorf("%s: %d, %v", c.name, use, err)
		}
		if c.fails && !strings.Contains(session.HintOf(err), "berth restart") {
			t.Errorf("%s: hint %q", c.name, session.HintOf(err))
		}
	}
}

func TestMatch(t *testing.T) {
	id := clients.Identity{Host: "h", Boot: "b", PIDNS: "n", PID: 7, Start: 9}
	other := id
	other.Start++
	whole := Greeting{Run: "run", Boot: "b", NativeID: "n", Supervisor: id}
	for _, c := range []struct {
		name   string
		theirs Greeting
		says   string
	}{
		{"the same", whole, ""},
		{"nothing known", Greeting{}, ""},
		{"another run", Greeting{Run: "run2"}, "the run is run here and run2 there"},
		{"another boot", Greeting{Boot: "c"}, "the boot is"},
		{"another native id", Greeting{NativeID: "m"}, "the native id is"},
		{"another supervisor", Greeting{Supervisor: other}, "the supervisor is 7-9 here and 7-10 there"},
	} {
		err := Match(whole, c.theirs)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || session.ClassOf(err) != session.Stale) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestRefusalsKeepClassAndHint(t *testing.T) {
	err := session.Errorf(session.Refused, "held").WithHint("berth open --move x")
	got := RefusalOf(err).Err()
	if got.Error() != "held" || session.ClassOf(got) != session.Refused || session.HintOf(got) != "berth open --move x" {
		t.Errorf("%v, %v, %q", got, session.ClassOf(got), session.HintOf(got))
	}
}

func TestSockets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	if err := os.WriteFile(path, nil, 0o666); err != nil { // a stale one
		t.Fatal(err)
	}
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if st, err := os.Lstat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st, err)
	}
	got := make(chan error, 1)
	go func() {
		nc, err := l.Accept()
		if err == nil {
			err = CheckPeer(nc)
			nc.Close()
		}
		got <- err
	}()
	c, err := Dial(path, 30*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("after close: %v", err)
	}
	if err := errors.Join(<-got, c.Close()); err != nil {
		t.Error(err)
	}
	a, _ := net.Pipe()
	if err := CheckPeer(a); err == nil {
		t.Error("somebody whom the kernel does not name is taken")
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("by now it may be another's: %v", err)
	}
}

// Whatever comes, a frame is what its head says, and what is written anew is read
// as the same frame. The oracle takes the bytes apart by hand.
func FuzzReadFrame(f *testing.F) {
	for _, s := range []string{"", "o", "o\x00\x00\x00\x00", "i\x00\x00\x00\x03abc", "i\x00\x00\x00\x03ab", "o\xff\xff\xff\xff", "h\x00\x00\x00\x02{}w\x00\x00\x00\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bytes.NewReader(data)
		for rest := data; ; {
			kind, payload, err := ReadFrame(r)
			switch {
			case len(rest) == 0:
				if !errors.Is(err, io.EOF) {
					t.Fatalf("at the end: %v", err)
				}
				return
			case len(rest) < 5:
				if !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatalf("%q: %v", rest, err)
				}
				return
			}
			n := int64(binary.BigEndian.Uint32(rest[1:5]))
			switch {
			case n > MaxFrame:
				if !errors.Is(err, errTooLarge) {
					t.Fatalf("%d bytes: %v", n, err)
				}
				return
			case int64(len(rest)-5) < n:
				if !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatalf("cut: %v", err)
				}
				return
			case err != nil || byte(kind) != rest[0] || !bytes.Equal(payload, rest[5:5+n]):
				t.Fatalf("%q, %q, %v from %q", kind, payload, err, rest)
			}
			rest = rest[5+n:]
		}
	})
}

// messages are all JSON messages, as their zero values.
func messages() map[Type][]any {
	return map[Type][]any{
		Hello: {new(Greeting)}, Welcome: {new(Greeting)}, Refused: {new(Refusal)}, Role: {new(RoleChange)},
		Ended: {new(Ending)}, Resize: {new(Size)}, Watched: {new(Watchers)}, Leave: {new(Leaving)},
	}
}

// A message that is taken is the same message written and read anew; rules about it
// hold for whatever was in it.
func FuzzMessages(f *testing.F) {
	for _, s := range []string{
		"", "null", "{}", "[]", `{"cols":80,"rows":24}`, `{"cols":-1,"rows":99999999999}`, `{"count":1e9}`, `{"reason":"detach"}`,
		`{"class":4,"message":"held","hint":"berth open"}`, `{"class":-7}`, `{"keyboard":true,"size":{"cols":1,"rows":1},"holder":"x"}`,
		`{"protocol":1,"min_protocol":1,"run":"r","as":"host","want":"keyboard","host":{"kind":"tmux","pane":"%1","watchers":2},"size":{"cols":80,"rows":24}}`,
		`{"outcome":"failed","code":3,"message":"m","next":true}`, `{"from_the_future":{"a":[1]}}`, `{"run":"\ud800"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for kind, values := range messages() {
			for _, v := range values {
				if err := Decode(kind, data, v); err != nil {
					if !strings.Contains(err.Error(), "frame") {
						t.Fatalf("error %v", err)
					}
					continue
				}
				a, b := net.Pipe()
				go func() {
					NewConn(a).SendJSON(kind, v)
					a.Close()
				}()
				k, payload, err := NewConn(b).Recv()
				w := reflect.New(reflect.TypeOf(v).Elem()).Interface()
				if err != nil || k != kind || Decode(k, payload, w) != nil || !reflect.DeepEqual(v, w) {
					t.Fatalf("%q: %+v became %+v (%v)", data, v, w, err)
				}
				b.Close()
				rules(t, v)
			}
		}
	})
}

func rules(t *testing.T, v any) {
	switch m := v.(type) {
	case *Greeting:
		if use, err := Negotiate(m.MinProtocol, m.Protocol); err == nil && (use < MinVersion || use > Version) {
			t.Fatalf("negotiated %d with %+v", use, m)
		}
		if err := Match(*m, *m); err != nil {
			t.Fatalf("does not match itself: %v", err)
		}
		_ = manifest.Supervisor{Hosts: []manifest.Host{m.Host}}
		_ = m.Host.String()
	case *Size:
		if m.Valid() && (m.Cols > 65535 || m.Rows > 65535) {
			t.Fatalf("%+v cannot be set on a terminal", m)
		}
	case *Refusal:
		if err := m.Err(); err.Error() != m.Message {
			t.Fatalf("%v", err)
		}
	}
}
