package manifest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/clients"
	"berth/internal/atomicfile"

	"golang.org/x/sys/unix"
)

// smallDisk is a file system of 64 KiB.
func smallDisk(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount the small disk")
	}
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k,mode=700"); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill takes all the room that is left, and returns what gives it back.
func fill(t *testing.T, disk string) (free func()) {
	t.Helper()
	path := filepath.Join(disk, "ballast")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 512))
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// Each kind of write on a full disk fails, saying which file; what was there stays
// as it was and readable; and with room again the same write succeeds.
func TestFullDisk(t *testing.T) {
	client := clients.Identity{Host: "h", Boot: "b", PIDNS: "n", PID: 1234, Start: 99}
	big := strings.Repeat("x", 3000)
	for _, c := range []struct {
		name  string
		file  string
		first func(d Dir) error // writes the old version; nil: there is none
		write func(d Dir) error
		read  func(d Dir) error
	}{
		{"native", "native.json",
			func(d Dir) error { return d.WriteNative(Native{NativeID: "old"}) },
			func(d Dir) error { return d.WriteNative(Native{NativeID: big}) },
			func(d Dir) error { _, err := d.Native(); return err }},
		{"supervisor", "supervisor.json",
			func(d Dir) error { return d.WriteSupervisor(Supervisor{Phase: PhaseRunning}) },
			func(d Dir) error { return d.WriteSupervisor(Supervisor{Phase: PhaseEnded, Version: big}) },
			func(d Dir) error { _, err := d.Supervisor(); return err }},
		{"wanted", "wanted.json",
			func(d Dir) error { _, err := d.SetWanted(WantRun, "old"); return err },
			func(d Dir) error { _, err := d.SetWanted(WantStopped, big); return err },
			func(d Dir) error { _, err := d.Wanted(); return err }},
		{"request", "requests/2.json",
			func(d Dir) error { _, err := d.AddRequest(Request{Kind: RequestStop}); return err },
			func(d Dir) error { _, err := d.AddRequest(Request{Kind: RequestStop, By: big}); return err },
			func(d Dir) error { _, err := d.Pending(0); return err }},
		{"answer", "requests/2.done.json",
			func(d Dir) error { return d.Answer(Done{Seq: 1}) },
			func(d Dir) error { return d.Answer(Done{Seq: 2, Message: big}) },
			func(d Dir) error { _, _, err := d.Answered(2); return err }},
		{"marker", "prepared", nil,
			func(d Dir) error { return d.Prepare(1) },
			func(d Dir) error { _, _, err := d.Marker(); return err }},
		{"announcement", "inbox", nil,
			func(d Dir) error { return Announce(string(d), Announcement{NativeID: big}) },
			func(d Dir) error { _, err := d.Inbox(); return err }},
		{"receipt", "clients/1234-99.json", nil,
			func(d Dir) error {
				return clients.WriteReceipt(string(d), clients.Receipt{Process: client, Executable: big})
			},
			func(d Dir) error { _, err := clients.Read(string(d)); return err }},
		{"end", "clients/1234-99.end.json",
			func(d Dir) error { return clients.WriteReceipt(string(d), clients.Receipt{Process: client}) },
			func(d Dir) error {
				return clients.WriteEnd(string(d), clients.End{Process: client, Outcome: clients.Failed, Reason: big})
			},
			func(d Dir) error { _, err := clients.Read(string(d)); return err }},
		{"last screen", "last-screen.txt",
			func(d Dir) error { return atomicfile.Write("last-screen", d.Path("last-screen.txt"), []byte("old")) },
			func(d Dir) error { return atomicfile.Write("last-screen", d.Path("last-screen.txt"), []byte(big)) },
			func(d Dir) error { _, err := atomicfile.Read(d.Path("last-screen.txt")); return err }},
		{"event", "events.jsonl",
			func(d Dir) error { return d.AppendEvent(Event{Event: "old"}) },
			func(d Dir) error { return d.AppendEvent(Event{Event: "new", Detail: map[string]any{"x": big + big}}) },
			func(d Dir) error { return nil }},
		{"another run", "runs/ot", nil,
			func(d Dir) error {
				return Publish(Dir(filepath.Join(filepath.Dir(filepath.Dir(string(d))), "ot", "other")), Manifest{Run: "other", Session: "s", Provider: big})
			},
			func(d Dir) error { return nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			disk := smallDisk(t)
			if err := os.Mkdir(filepath.Join(disk, "runs"), 0o700); err != nil {
				t.Fatal(err)
			}
			d := Dir(filepath.Join(disk, "runs", "ru", "run"))
			if err := Publish(d, Manifest{Run: "run", Session: "session", Provider: "demo"}); err != nil {
				t.Fatal(err)
			}
			if c.first != nil {
				if err := c.first(d); err != nil {
					t.Fatal(err)
				}
			}
			before := contents(t, disk)
			free := fill(t, disk)
			err := c.write(d)
			free()
			if !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), filepath.Join(disk, "runs")) || !strings.Contains(err.Error(), c.file) {
				t.Errorf("error %v, want one that names %s", err, c.file)
			}
			after := contents(t, disk)
			if c.name == "event" { // it may end in a part of the new line
				after["runs/ru/run/events.jsonl"] = strings.SplitAfter(after["runs/ru/run/events.jsonl"], "\n")[0]
			}
			for name, data := range after {
				if was, ok := before[name]; !ok || was != data {
					t.Errorf("%s: was %.60q, is %.60q", name, was, data)
				}
			}
			for name := range before {
				if _, ok := after[name]; !ok {
					t.Errorf("%s is gone", name)
				}
			}
			if err := c.read(d); err != nil {
				t.Errorf("the old version cannot be read: %v", err)
			}
			if err := c.write(d); err != nil {
				t.Errorf("with room again: %v", err)
			}
			if err := c.read(d); err != nil {
				t.Errorf("the new version cannot be read: %v", err)
			}
		})
	}
}

// contents are the files under dir, by their relative paths.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		out[rel] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(fmt.Errorf("cannot read the small disk: %w", err))
	}
	return out
}
