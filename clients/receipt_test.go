package clients

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"berth/internal/atomicfile"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 5, time.UTC)

func receiptOf(id Identity, started time.Time) Receipt {
	return Receipt{
		Process: id, Session: "s", Run: "r", Attempt: 1, Provider: "demo", Executable: "/bin/demo",
		NativeID: "n", Supervisor: Self(), StartedAt: started,
	}
}

// dead names a process that cannot exist on this machine.
func dead(start uint64) Identity {
	id := Machine()
	id.PID, id.Start = 1<<22+1, start
	return id
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, dir string) []Client {
	t.Helper()
	cs, err := Read(dir)
	must(t, err)
	return cs
}

func TestReceiptAndEnd(t *testing.T) {
	dir := t.TempDir()
	if cs := read(t, dir); len(cs) != 0 {
		t.Fatalf("clients of a new run: %v", cs)
	}
	if _, l := Current(nil); l.Status != Dead {
		t.Errorf("nothing started: %v", l)
	}

	r := receiptOf(Self(), noon)
	must(t, WriteReceipt(dir, r))
	if err := WriteReceipt(dir, r); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second receipt: %v", err)
	}
	cs := read(t, dir)
	r.SchemaVersion = 1
	if len(cs) != 1 || cs[0].Err != nil || cs[0].End != nil || !reflect.DeepEqual(cs[0].Receipt, r) {
		t.Fatalf("read %+v", cs)
	}
	if l := cs[0].Liveness(); l.Status != Live {
		t.Errorf("%v, want live", l)
	}

	status := 3
	e := End{Process: Self(), ExitCode: &status, Outcome: Failed, Reason: "exit status 3", Ended: 2, EndedAt: noon}
	must(t, WriteEnd(dir, e))
	if err := WriteEnd(dir, e); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second end: %v", err)
	}
	cs = read(t, dir)
	e.SchemaVersion, e.Survivors = 1, []int{}
	if len(cs) != 1 || cs[0].Err != nil || !reflect.DeepEqual(*cs[0].End, e) {
		t.Fatalf("read %+v", cs)
	}
	if l := cs[0].Liveness(); l.Status != Live {
		t.Errorf("%v, want live: the process provably runs", l)
	}
}

func TestReceiptOfLostRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	if err := WriteReceipt(dir, receiptOf(Self(), noon)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("WriteReceipt: %v", err)
	}
	if _, err := Read(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Read: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the run directory was made again")
	}
}

// One unreadable file is told with its reason, and hides no other (fault 41).
func TestReadUnreadable(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) {
		must(t, os.WriteFile(filepath.Join(dir, dirName, name), []byte(text), 0o600))
	}
	must(t, WriteReceipt(dir, receiptOf(dead(1), noon)))
	must(t, WriteReceipt(dir, receiptOf(dead(2), noon.Add(time.Second))))
	file(dead(2).String()+".end.json", "{")
	file("77-3.json", "\x00\x00")
	file("77-4.json", `{"schema_version": 99}`)
	file("77-5.json", `{"schema_version": 1, "process": {"pid": 78, "start": 5}}`)
	file("77-6.end.json", `{"schema_version": 1, "process": {"host": "`+dead(6).Host+`", "boot": "b", "pid": 77, "start": 6}, "outcome": "failed"}`)
	file(".tmp-77-7.json-123", "")
	file("notes.txt", "")

	got := map[uint64]Client{}
	for _, c := range read(t, dir) {
		got[c.Receipt.Process.Start] = c
	}
	for start, want := range map[uint64]struct {
		status Status
		err    string
	}{
		1: {Dead, ""},
		2: {Dead, "not valid JSON"},
		3: {Unknown, "not valid JSON"},
		4: {Unknown, "schema_version 99"},
		5: {Unknown, "tells of process 78-5"},
		6: {Dead, "no such file"},
	} {
		c, ok := got[start]
		l := c.Liveness()
		if !ok || l.Status != want.status || l.Reason == "" {
			t.Errorf("%d: %v, want %v", start, l, want.status)
		}
		if want.err == "" && c.Err != nil || want.err != "" && (c.Err == nil || !strings.Contains(c.Err.Error(), want.err)) {
			t.Errorf("%d: error %v, want %q", start, c.Err, want.err)
		}
		delete(got, start)
	}
	if len(got) != 0 {
		t.Errorf("too many: %v", got)
	}
	var newer *atomicfile.NewerError
	for _, c := range read(t, dir) {
		if errors.As(c.Err, &newer) {
			return
		}
	}
	t.Error("a newer schema is not told as such")
}

func TestCurrent(t *testing.T) {
	foreign := Self()
	foreign.Host, foreign.Boot = "x", "x"
	client := func(id Identity, attempt int) Client {
		return Client{Receipt: Receipt{Process: id, Attempt: attempt}}
	}
	for _, c := range []struct {
		name    string
		in      []Client
		attempt int
		want    Status
	}{
		{"newest dead", []Client{client(dead(1), 1), client(dead(2), 2)}, 2, Dead},
		{"an old live one", []Client{client(Self(), 1), client(dead(2), 2)}, 1, Live},
		{"unknown over dead", []Client{client(foreign, 1), client(dead(2), 2)}, 1, Unknown},
		{"live over unknown", []Client{client(Self(), 1), client(foreign, 2)}, 1, Live},
	} {
		if got, l := Current(c.in); got.Receipt.Attempt != c.attempt || l.Status != c.want {
			t.Errorf("%s: attempt %d, %v", c.name, got.Receipt.Attempt, l)
		}
	}
}

// Clients are sorted by when they were started, not by their names.
func TestReadSorts(t *testing.T) {
	dir := t.TempDir()
	for i, start := range []uint64{30, 4, 100} {
		must(t, WriteReceipt(dir, receiptOf(dead(start), noon.Add(time.Duration(i)*time.Second))))
	}
	for i, c := range read(t, dir) {
		if want := []uint64{30, 4, 100}[i]; c.Receipt.Process.Start != want {
			t.Errorf("%d: %d, want %d", i, c.Receipt.Process.Start, want)
		}
	}
}
