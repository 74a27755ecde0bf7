package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"berth/clients"
	"berth/internal/atomicfile"
	"berth/internal/home"
	"berth/lock"
	"berth/manifest"
	"berth/tmux"
)

// What stands in the goldens of testdata/formats.
var (
	goldenHost   = clients.Identity{Host: "machine", Boot: "boot", PIDNS: "4026531836", PID: 4242, Start: 170042}
	goldenServer = clients.Identity{Host: "machine", Boot: "boot", PIDNS: "4026531836", PID: 4300, Start: 170100}
	goldenTime   = "2026-11-30T20:22:32.123456789Z"
	goldenExit   = 3
)

// format is one kind of document: its golden, the value that the golden says, where
// in a run directory it is read, and by whom.
type format struct {
	golden string
	value  any
	at     string
	read   func(d manifest.Dir) (any, error)
}

var formats = []format{
	{"manifest.json", manifest.Manifest{
		SchemaVersion: 1, Run: "0m4zr8t1c9ab77xq", Session: "7k3fq2m9x0abcdef", Kind: "conversation", Provider: "claude", Model: "opus",
		Cwd: "/src/shop", Repo: "/src/shop", Worktree: "/src/shop", CallerRun: "1n4zr8t1c9ab77xq", CreatedAt: goldenTime,
		Host: "machine", Boot: "boot", PIDNS: "4026531836", Versions: manifest.Versions{Berth: "0.1.0", Protocol: 1},
		Executable: manifest.Executable{Path: "/usr/bin/claude", Size: 400 << 20, MTime: goldenTime, SHA256: "unavailable"},
		EnvNames:   []string{"API_KEY", "HOME", "PATH"}, Env: map[string]string{"PATH": "/usr/bin", "HOME": "/home/dev"},
	}, "manifest.json", func(d manifest.Dir) (any, error) { v, err := d.Manifest(); return v, err }},
	{"marker.json", manifest.Marker{SchemaVersion: 1, Attempt: 2, Owner: goldenHost, Deadline: 1234567890123},
		"launching", func(d manifest.Dir) (any, error) { _, v, err := d.Marker(); return v, err }},
	{"native.json", manifest.Native{
		SchemaVersion: 1, Provider: "claude", NativeID: "453f0a65-9e53-494d-87d2-884988a1e293", Account: "work", Source: "hook", Recorded: true,
		HistoryPath: "/home/dev/.claude/projects/shop/453f0a65.jsonl", ObservedAt: goldenTime,
		Superseded: []manifest.Superseded{{NativeID: "11111111-9e53-494d-87d2-884988a1e293", ObservedAt: goldenTime}},
	}, "native.json", func(d manifest.Dir) (any, error) { v, err := d.Native(); return v, err }},
	{"supervisor.json", manifest.Supervisor{
		SchemaVersion: 1, Process: goldenHost, Since: goldenTime, Version: "0.1.0", Protocol: 1, Socket: "/home/dev/.local/state/berth/sock/0m4zr8t1c9ab77xq",
		Phase: manifest.PhaseRunning, PhaseSince: goldenTime, Request: 7, Attempt: 2, Ready: true,
		Turn:   manifest.Turn{State: manifest.TurnWaiting, WaitingFor: "an approval", Source: "hook", Since: goldenTime},
		Prompt: "sent", Restarts: manifest.Restarts{Policy: manifest.RestartOnFailure, Count: 2}, Hosts: []manifest.Host{
			{Kind: manifest.HostTerminal, Process: goldenHost, TTY: "/dev/pts/3", TerminalID: "pane-3", Keyboard: true, Since: goldenTime},
			{Kind: manifest.HostTmux, Process: goldenHost, TTY: "/dev/pts/4", Pane: "%1", Server: goldenServer, Since: goldenTime, Watchers: 1, WatcherTTY: "/dev/pts/5", WatchedSince: goldenTime},
		},
	}, "supervisor.json", func(d manifest.Dir) (any, error) { v, err := d.Supervisor(); return v, err }},
	{"wanted.json", manifest.Wanted{SchemaVersion: 1, Seq: 3, Want: manifest.WantStopped, By: "berth stop (pid 4242)", At: goldenTime},
		"wanted.json", func(d manifest.Dir) (any, error) { v, err := d.Wanted(); return v, err }},
	{"request.json", manifest.Request{
		SchemaVersion: 1, Seq: 1, Kind: manifest.RequestStop, Client: goldenHost, Reason: manifest.ReasonStopped, By: "berth stop (pid 4242)",
		Spare: []string{"tmux"}, Boot: "boot", Deadline: 1234567890123,
	}, "requests/1.json", func(d manifest.Dir) (any, error) {
		rs, err := d.Pending(0)
		if len(rs) == 0 {
			return nil, err
		}
		return rs[0], err
	}},
	{"done.json", manifest.Done{SchemaVersion: 1, Seq: 1, OK: false, Message: "one would not end", Ended: 4, Left: []int{4243}, Spared: []string{"gpg-agent (4244)"}, Unverified: []int{4245}},
		"requests/1.done.json", func(d manifest.Dir) (any, error) { v, _, err := d.Answered(1); return v, err }},
	{"announcement.json", manifest.Announcement{
		SchemaVersion: 1, Provider: "claude", NativeID: "453f0a65-9e53-494d-87d2-884988a1e293", Account: "work", HistoryPath: "/home/dev/history.jsonl",
		Recorded: true, Ready: true, Turn: manifest.TurnWaiting, WaitingFor: "an approval", Source: "hook", At: goldenTime,
	}, "inbox/1.json", func(d manifest.Dir) (any, error) {
		as, err := d.Inbox()
		if len(as) == 0 {
			return nil, err
		}
		return as[0], err
	}},
	{"receipt.json", clients.Receipt{
		SchemaVersion: 1, Process: goldenHost, Session: "7k3fq2m9x0abcdef", Run: "0m4zr8t1c9ab77xq", Attempt: 2, Provider: "claude",
		Executable: "/usr/bin/claude", NativeID: "453f0a65-9e53-494d-87d2-884988a1e293", Supervisor: goldenServer, StartedAt: at(goldenTime),
	}, "clients/4242-170042.json", func(d manifest.Dir) (any, error) {
		cs, err := clients.Read(string(d))
		if err != nil {
			return nil, err
		}
		return cs[0].Receipt, cs[0].Err
	}},
	{"end.json", clients.End{
		SchemaVersion: 1, Process: goldenHost, ExitCode: &goldenExit, Signal: "SIGTERM", Outcome: clients.Failed, Reason: "exited with status 3",
		AskedBy: "berth stop (pid 4242)", Ended: 4, Survivors: []int{4243}, SurvivorProcesses: []clients.Identity{goldenHost}, EndedAt: at(goldenTime),
	}, "clients/4242-170042.end.json", func(d manifest.Dir) (any, error) {
		cs, err := clients.Read(string(d))
		switch {
		case err != nil:
			return nil, err
		case cs[0].End == nil:
			return nil, cs[0].Err
		}
		return *cs[0].End, nil
	}},
	{"tmux.json", tmux.Record{SchemaVersion: 1, Socket: "/home/dev/.local/state/berth/sock/tmux", Server: goldenServer, Version: "3.4", Since: at("2026-11-30T20:22:32Z")},
		"tmux.json", func(d manifest.Dir) (any, error) {
			v, err := tmux.New(tmux.Options{Record: d.Path("tmux.json")}).ReadRecord()
			return v, err
		}},
}

// Every document is written as its golden says, and read back.
func TestFormats(t *testing.T) {
	for _, f := range formats {
		t.Run(f.golden, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "document")
			if err := atomicfile.WriteJSON("test", path, f.value); err != nil {
				t.Fatal(err)
			}
			matchGolden(t, f.golden, readFile(t, path))
			d := runDir(t)
			place(t, d, f, golden(t, f.golden))
			got, err := f.read(d)
			if err != nil || !reflect.DeepEqual(got, f.value) {
				t.Fatalf("read back: %+v, %v\nwant %+v", got, err, f.value)
			}
		})
	}
}

// A newer berth of the same schema may say more: readers ignore it.
func TestFormatsIgnoreUnknownFields(t *testing.T) {
	for _, f := range formats {
		t.Run(f.golden, func(t *testing.T) {
			d := runDir(t)
			more := bytes.Replace(golden(t, f.golden), []byte("{"), []byte(`{"from_the_future": [{"a": 1}],`), 1)
			place(t, d, f, more)
			got, err := f.read(d)
			if err != nil || !reflect.DeepEqual(got, f.value) {
				t.Fatalf("read: %+v, %v\nwant %+v", got, err, f.value)
			}
		})
	}
}

// A newer schema is refused by name, and the file stays as it is.
func TestFormatsRefuseNewerSchemas(t *testing.T) {
	for _, f := range formats {
		t.Run(f.golden, func(t *testing.T) {
			d := runDir(t)
			newer := bytes.Replace(golden(t, f.golden), []byte(`"schema_version": 1`), []byte(`"schema_version": 2`), 1)
			path := place(t, d, f, newer)
			_, err := f.read(d)
			var e *atomicfile.NewerError
			if !errors.As(err, &e) {
				t.Fatalf("error %v", err)
			}
			if e.Path != path || e.Have != 2 || e.Max != 1 || !strings.Contains(err.Error(), path) {
				t.Fatalf("error %v: %+v", err, e)
			}
			if f.golden == "announcement.json" {
				return // an inbox is emptied whatever is in it
			}
			if !bytes.Equal(readFile(t, path), newer) {
				t.Fatal("the file was changed")
			}
		})
	}
}

// A line of the events, and the holder's name in a lock, are of one line each.
func TestFormatsOfLines(t *testing.T) {
	d := runDir(t)
	err := d.AppendEvent(manifest.Event{At: goldenTime, Run: "0m4zr8t1c9ab77xq", Session: "7k3fq2m9x0abcdef", Event: "ended", Detail: map[string]any{"outcome": "failed", "processes": 4}})
	if err != nil {
		t.Fatal(err)
	}
	matchGolden(t, "event.jsonl", readFile(t, d.Path("events.jsonl")))

	locks := t.TempDir()
	l, err := lock.Acquire(t.Context(), locks, "7k3fq2m9x0abcdef", lock.Launch, "berth stop", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	files, err := filepath.Glob(filepath.Join(locks, "*.launch"))
	if err != nil || len(files) != 1 {
		t.Fatalf("lock files: %v, %v", files, err)
	}
	// The name of the file is a format too: two berths must lock the same one.
	matchGolden(t, "lock", fmt.Appendf(nil, "%s\n%s\n", filepath.Base(files[0]), volatile(readFile(t, files[0]),
		`"pid":\d+`, `"pid":4242`, `"since":"[^"]+"`, `"since":"2026-11-30T20:22:32Z"`)))
}

func TestFormatOfHome(t *testing.T) {
	base, err := os.MkdirTemp("", "bf-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base)
	dir := filepath.Join(base, "home") // short: sockets inside
	if _, err := home.Open(dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "home.json")
	first := readFile(t, path)
	matchGolden(t, "home.json", volatile(first, `"id": "[0-9a-z]{16}"`, `"id": "8akpnztk4h68spmn"`, `"host": "[^"]+"`, `"host": "machine"`,
		`"sockets": "[^"]+"`, `"sockets": "/home/dev/.local/state/berth/sock"`, `"created_at": "[^"]+"`, `"created_at": "2026-11-30T20:22:32Z"`))

	more := bytes.Replace(first, []byte("{"), []byte(`{"from_the_future": 1,`), 1)
	write(t, path, more)
	if _, err := home.Open(dir); err != nil {
		t.Fatalf("with an unknown field: %v", err)
	}
	write(t, path, bytes.Replace(first, []byte(`"schema_version": 1`), []byte(`"schema_version": 2`), 1))
	var e *atomicfile.NewerError
	if _, err := home.Open(dir); !errors.As(err, &e) || e.Path != path {
		t.Fatalf("newer: %v", err)
	}
}

// Documents that say what no test here encodes are noticed: every golden belongs to
// a test, and every test has its golden.
func TestFormatsAreAllPinned(t *testing.T) {
	want := map[string]bool{"event.jsonl": true, "lock": true, "home.json": true, "record.json": true /* internal/e2e */}
	for _, f := range formats {
		want[f.golden] = true
	}
	entries, err := os.ReadDir("testdata/formats")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !want[e.Name()] {
			t.Errorf("testdata/formats/%s belongs to no test", e.Name())
		}
		delete(want, e.Name())
	}
	if len(want) > 0 {
		t.Errorf("not in testdata/formats: %v", want)
	}
}

// Whatever is in a document, its reader takes it or refuses it with its path, and
// what it takes is the same when written anew.
func FuzzFormats(f *testing.F) {
	for i := range formats {
		for _, data := range [][]byte{nil, []byte("{}"), []byte("null"), []byte(`{"schema_version":1}`), []byte(`{"schema_version":1,"hosts":null,"process":{"pid":-1}}`)} {
			f.Add(uint8(i), data)
		}
		data, err := os.ReadFile(filepath.Join("testdata", "formats", formats[i].golden))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), data)
		f.Add(uint8(i), data[:len(data)/2])
	}
	f.Fuzz(func(t *testing.T, i uint8, data []byte) {
		c := formats[int(i)%len(formats)]
		d := runDir(t)
		path := place(t, d, c, data)
		first, err := c.read(d)
		if err != nil {
			if !strings.Contains(err.Error(), path) {
				t.Fatalf("does not name %s: %v", path, err)
			}
			return
		}
		write := func(v any) []byte {
			if err := atomicfile.WriteJSON("test", path, v); err != nil {
				t.Fatal(err)
			}
			return readFile(t, path)
		}
		was := write(first)
		second, err := c.read(d)
		if err != nil || !bytes.Equal(write(second), was) {
			t.Fatalf("%s became %+v (%v)", was, second, err)
		}
	})
}

// place puts a document where it is read.
func place(t *testing.T, d manifest.Dir, f format, data []byte) string {
	t.Helper()
	path := d.Path(filepath.FromSlash(f.at))
	write(t, path, data)
	if f.golden == "end.json" { // an end is of a client with a receipt
		write(t, d.Path("clients", "4242-170042.json"), golden(t, "receipt.json"))
	}
	return path
}

func runDir(t *testing.T) manifest.Dir {
	t.Helper()
	d := manifest.Dir(t.TempDir())
	for _, sub := range []string{"clients", "requests", "inbox"} {
		if err := os.Mkdir(d.Path(sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func golden(t *testing.T, name string) []byte {
	t.Helper()
	return readFile(t, filepath.Join("testdata", "formats", name))
}

// matchGolden compares got with a golden, or makes it that with -u.
func matchGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		write(t, filepath.Join("testdata", "formats", name), got)
	}
	if want := golden(t, name); !bytes.Equal(got, want) {
		t.Errorf("%s is written as\n%s\nand its golden is\n%s", name, got, want)
	}
	if strings.HasSuffix(name, ".json") && !json.Valid(got) {
		t.Errorf("%s is not JSON", name)
	}
}

// volatile replaces what differs from run to run: pairs of an expression and what
// stands in the golden.
func volatile(data []byte, pairs ...string) []byte {
	for i := 0; i < len(pairs); i += 2 {
		data = regexp.MustCompile(pairs[i]).ReplaceAll(data, []byte(pairs[i+1]))
	}
	return data
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return t
}
