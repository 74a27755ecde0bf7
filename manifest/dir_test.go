package manifest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"berth/clients"
	"berth/internal/session"
)

func newRun(t *testing.T) Dir {
	t.Helper()
	d := Dir(filepath.Join(t.TempDir(), "ru", "run"))
	if err := Publish(d, Manifest{Run: "run", Session: "session", Provider: "demo"}); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestPublishIsAllOrNothing(t *testing.T) {
	d := newRun(t)
	for _, sub := range subdirs {
		if st, err := os.Stat(d.Path(sub)); err != nil || !st.IsDir() || st.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", sub, st, err)
		}
	}
	first, err := os.ReadFile(d.Path("manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	err = Publish(d, Manifest{Run: "run", Session: "another", Provider: "demo"})
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("published twice: %v", err)
	}
	if again, _ := os.ReadFile(d.Path("manifest.json")); string(again) != string(first) {
		t.Error("the second one replaced the first")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(string(d)), ".*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// An unreadable manifest is unknown, and its bytes stay.
func TestUnreadableManifestIsUnknown(t *testing.T) {
	for _, c := range []struct{ name, data string }{
		{"empty", ""},
		{"torn", `{"schema_version": 1, "run": "r`},
		{"zeros", strings.Repeat("\x00", 100)},
		{"newer", `{"schema_version": 2, "run": "run", "session": "s", "provider": "p"}`},
		{"without a session", `{"schema_version": 1, "run": "run", "provider": "p"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newRun(t)
			if err := os.WriteFile(d.Path("manifest.json"), []byte(c.data), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := d.Manifest()
			if err == nil || session.ClassOf(err) != session.Unknown || !strings.Contains(err.Error(), d.Path("manifest.json")) {
				t.Errorf("error %v", err)
			}
			if data, _ := os.ReadFile(d.Path("manifest.json")); string(data) != c.data {
				t.Errorf("now %q", data)
			}
		})
	}
}

// A new last word takes the place of a damaged one, which says nothing, and not of one
// that a newer berth wrote.
func TestWantedReplacesWhatIsDamaged(t *testing.T) {
	d := newRun(t)
	for text, replaced := range map[string]bool{"": true, "{}": true, `{"schema_version": 9}`: false} {
		if err := os.WriteFile(d.Path("wanted.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := d.SetWanted(WantRun, "test"); (err == nil) != replaced {
			t.Errorf("%q: error %v", text, err)
		}
		if data, _ := os.ReadFile(d.Path("wanted.json")); (string(data) != text) != replaced {
			t.Errorf("%q is now %q", text, data)
		}
	}
}

func TestRequestsAreNumberedAndAnsweredOnce(t *testing.T) {
	d := newRun(t)
	for i := range 3 {
		r, err := d.AddRequest(Request{Kind: RequestStop})
		if err != nil || r.Seq != i+1 || r.Boot != clients.Machine().Boot {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	if err := os.WriteFile(d.Path("requests", "2.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"x.json", "-1.json", "0.json", "1.json.bak", "4.done.json"} { // none of them a request
		if err := os.WriteFile(d.Path("requests", name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, done := range []Done{{Seq: 1, OK: true, Ended: 3}, {Seq: 1, Message: "second answer"}} {
		if err := d.Answer(done); err != nil {
			t.Fatal(err)
		}
	}
	if a, ok, err := d.Answered(1); !ok || err != nil || !a.OK || a.Ended != 3 {
		t.Errorf("the first answer must stay: %+v, %v, %v", a, ok, err)
	}
	if _, ok, err := d.Answered(3); ok || err != nil {
		t.Errorf("unanswered: %v, %v", ok, err)
	}
	rs, err := d.Pending(0)
	if len(rs) != 1 || rs[0].Seq != 3 || err == nil || !strings.Contains(err.Error(), d.Path("requests", "2.json")) {
		t.Errorf("pending %+v, %v: the unreadable one hides none", rs, err)
	}
	if rs, err := d.Pending(3); len(rs) != 0 || err != nil {
		t.Errorf("above the last: %+v, %v", rs, err)
	}
}

func TestRequestsAreVoidAfterTheirTime(t *testing.T) {
	here := clients.Machine().Boot
	for _, c := range []struct {
		name    string
		request Request
		overdue bool
	}{
		{"in time", Request{Boot: here, Deadline: Monotonic() + 1e12}, false},
		{"late", Request{Boot: here, Deadline: Monotonic() - 1}, true},
		{"of another boot", Request{Boot: "other", Deadline: Monotonic() + 1e12}, true},
	} {
		if got := c.request.Overdue(); got != c.overdue {
			t.Errorf("%s: overdue %v", c.name, got)
		}
	}
}

func TestMarkersMoveOnce(t *testing.T) {
	d := newRun(t)
	if stage, _, err := d.Marker(); stage != NoMarker || err != nil {
		t.Fatalf("%q, %v", stage, err)
	}
	if err := d.Prepare(3); err != nil {
		t.Fatal(err)
	}
	if err := d.Prepare(4); !errors.Is(err, fs.ErrExist) {
		t.Errorf("prepared twice: %v", err)
	}
	for _, step := range []struct{ from, to Stage }{{Prepared, Launching}, {Launching, Supervised}} {
		if err := d.Advance(step.from, step.to); err != nil {
			t.Fatal(err)
		}
		if err := d.Advance(step.from, Expired); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the late party moved %s: %v", step.from, err)
		}
		if stage, m, err := d.Marker(); stage != step.to || m.Attempt != 3 || m.Owner != clients.Self() || err != nil {
			t.Errorf("%s: %+v, %v", stage, m, err)
		}
	}
	if err := d.FinishLaunch(); err != nil {
		t.Fatal(err)
	}
	if stage, _, err := d.Marker(); stage != NoMarker || err != nil {
		t.Errorf("%q, %v", stage, err)
	}
}

func TestMarkersAreOverdue(t *testing.T) {
	here := clients.Self()
	rebooted, elsewhere := here, here
	rebooted.Boot, elsewhere.Boot, elsewhere.Host = "before", "theirs", "other"
	later := Monotonic() + int64(LaunchWithin)
	for _, c := range []struct {
		name    string
		marker  Marker
		overdue bool
	}{
		{"in time", Marker{Owner: here, Deadline: later}, false},
		{"late", Marker{Owner: here, Deadline: Monotonic() - 1}, true},
		{"before a reboot", Marker{Owner: rebooted, Deadline: later}, true},
		{"on another host", Marker{Owner: elsewhere, Deadline: later}, false},
	} {
		if got := c.marker.Overdue(); got != c.overdue {
			t.Errorf("%s: overdue %v", c.name, got)
		}
		if c.marker.Remaining() > LaunchWithin {
			t.Errorf("%s: %v remain", c.name, c.marker.Remaining())
		}
	}
}

func TestThePromptIsMarkedOnce(t *testing.T) {
	d := newRun(t)
	if sent, err := d.PromptSent(); sent || err != nil {
		t.Fatal(sent, err)
	}
	if err := d.MarkPromptSent(); err != nil {
		t.Fatal(err)
	}
	if err := d.MarkPromptSent(); !errors.Is(err, fs.ErrExist) {
		t.Errorf("marked twice: %v", err)
	}
	if sent, err := d.PromptSent(); !sent || err != nil {
		t.Error(sent, err)
	}
}

func TestTheInboxIsTakenInOrder(t *testing.T) {
	d := newRun(t)
	for _, id := range []string{"a", "b", "c"} {
		if err := Announce(string(d), Announcement{NativeID: id, Source: "agent"}); err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range map[string]string{"0-bad.json": "{", ".tmp-x": "being written", "note.txt": "not ours"} {
		if err := os.WriteFile(d.Path("inbox", name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	as, err := d.Inbox()
	var ids []string
	for _, a := range as {
		ids = append(ids, a.NativeID)
	}
	if strings.Join(ids, "") != "abc" || err == nil || !strings.Contains(err.Error(), "0-bad.json") {
		t.Errorf("took %v, %v", ids, err)
	}
	if as, err := d.Inbox(); len(as) != 0 || err != nil {
		t.Errorf("taken twice: %+v, %v", as, err)
	}
	if err := Announce(string(d)+"-gone", Announcement{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a run: %v", err)
	}
}

func TestNativeMerge(t *testing.T) {
	known := Native{NativeID: "old", Recorded: true, HistoryPath: "/h/old", Account: "me", Source: "agent", ObservedAt: "1"}
	for _, c := range []struct {
		name string
		was  Native
		said Announcement
		want Native
	}{
		{"first id", Native{}, Announcement{NativeID: "a", Source: "hook", At: "2"}, Native{NativeID: "a", Source: "hook", ObservedAt: "2"}},
		{"the same id changes nothing", known, Announcement{NativeID: "old", Source: "hook", At: "2"}, known},
		{"nothing said changes nothing", known, Announcement{Turn: TurnBusy, At: "2"}, known},
		{"recorded is not unsaid", known, Announcement{NativeID: "old", Recorded: false, At: "2"}, known},
		{"a new id keeps the old one, not its history", known, Announcement{NativeID: "new", Source: "hook", At: "2"},
			Native{NativeID: "new", Account: "me", Source: "hook", ObservedAt: "2", Superseded: []Superseded{{"old", "1"}}}},
		{"history of an id said before", Native{NativeID: "a", ObservedAt: "1"}, Announcement{Recorded: true, HistoryPath: "/h", At: "2"},
			Native{NativeID: "a", Recorded: true, HistoryPath: "/h", ObservedAt: "1"}},
		{"history of no id counts for none", Native{ObservedAt: "1"}, Announcement{Recorded: true, HistoryPath: "/h", At: "2"}, Native{ObservedAt: "1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.was.Merge(c.said); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// What a supervisor makes of any announcements: the id is the last one said, every
// earlier one is kept once for each time it was left, and nothing is shared.
func FuzzNativeMerge(f *testing.F) {
	f.Add("a b b a", true)
	f.Add(" x", false)
	f.Fuzz(func(t *testing.T, said string, recorded bool) {
		var n Native
		last, left := "", 0
		for id := range strings.SplitSeq(said, " ") {
			before := n
			n = n.Merge(Announcement{NativeID: id, Recorded: recorded, At: "t"})
			if !reflect.DeepEqual(before.Superseded, n.Superseded[:len(before.Superseded):len(before.Superseded)]) && len(before.Superseded) > 0 {
				t.Fatal("the past changed")
			}
			if id != "" && id != last {
				if last != "" {
					left++
				}
				last = id
			}
		}
		if n.NativeID != last || len(n.Superseded) != left || last == "" && n.Recorded {
			t.Fatalf("%q: %+v, want %q and %d superseded", said, n, last, left)
		}
	})
}

func TestHolding(t *testing.T) {
	for _, c := range []struct {
		name string
		host Host
		want bool
	}{
		{"terminal with the keyboard", Host{Kind: HostTerminal, Keyboard: true}, true},
		{"terminal that mirrors", Host{Kind: HostTerminal}, false},
		{"pane nobody looks at", Host{Kind: HostTmux, Keyboard: true}, false},
		{"pane somebody looks at", Host{Kind: HostTmux, Keyboard: true, Watchers: 1}, true},
		{"mirror somebody looks at", Host{Kind: HostTmux, Watchers: 2}, false},
	} {
		if got := c.host.Holds(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
		s := Supervisor{Hosts: []Host{{Kind: HostTmux}, c.host}}
		if _, ok := s.Holder(); ok != c.want {
			t.Errorf("%s: holder %v", c.name, ok)
		}
	}
}
