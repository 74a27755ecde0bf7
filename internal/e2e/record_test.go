//go:build linux

package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("u", false, "write what was got into the golden files")

const recordGolden = "../../testdata/formats/record.json"

// recordKeys are the keys of a record, typed out: a promise to who reads it.
var recordKeys = []string{
	"id", "kind", "primary_scope", "attention", "task_ids", "workspace", "interactive", "work", "wave_id", "work_path", "actions",
	"title", "title_source", "flow_membership", "detail", "provider", "cwd", "state", "ready_summary", "open_argv", "terminal_ids",
	"run", "phase", "resumable", "reason", "native_id", "former_native_ids", "held_by", "turn",
	"client", "hosts", "tmux", "supervisor", "last_end", "created_at", "elapsed_ms",
}

// The record of `new --json` and `show --json` is the golden one, but for what differs
// from run to run.
func TestRecordIsPinned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.run("new", "demo", "--title", "Flaky test", "--model", "opus", "--json", "--", "hello").want(0)
	r := made.record()
	w.eventually("the pane is known", func() bool { s := w.show(r.ID); return s.Tmux != nil && s.Tmux.Pane != "" })
	shown := w.run("show", r.ID, "--json").want(0)
	for name, doc := range map[string]string{"new": made.out, "show": shown.out} {
		keys := keysOf(t, doc)
		if !slices.Equal(keys, recordKeys) {
			t.Errorf("%s: keys\n%q, want\n%q", name, keys, recordKeys)
		}
		if slices.Contains(allKeys(doc), "run_id") {
			t.Errorf("%s has the key run_id", name)
		}
	}

	got := []byte(shown.out)
	for _, v := range []struct{ is, golden string }{
		{r.ID, "7k3fq2m9x0abcdef"}, {r.ID[:12], "7k3fq2m9x0ab"}, {r.Run, "0m4zr8t1c9ab77xq"}, {*r.NativeID, "453f0a65-9e53-494d-87d2-884988a1e293"}, {r.Workspace.HomeID, "8akpnztk4h68spmn"},
		{r.Client.BootID, "273be631-a5c0-4b0e-a42a-7413c446f098"}, {w.home, "/home/dev/.local/state/berth"}, {w.cwd, "/src/shop"}, {berthBin, "/usr/local/bin/berth"},
	} {
		if !bytes.Contains(got, []byte(v.is)) {
			t.Errorf("%q is nowhere in the record", v.is)
		}
		got = bytes.ReplaceAll(got, []byte(v.is), []byte(v.golden))
	}
	for _, v := range []struct{ is, golden string }{
		{`"(pid|start)": \d+`, `"$1": 4242`}, {`"(since|created_at)": "[^"]+"`, `"$1": "2026-11-30T20:22:32.123456789Z"`},
		{`"tty": "[^"]+"`, `"tty": "/dev/pts/3"`}, {`"attach": "\S*tmux `, `"attach": "/usr/bin/tmux `},
		{`"state": "(idle|busy)"`, `"state": "idle"`}, {`"attention": (null|"reply")`, `"attention": "reply"`}, // how far the demo has come with its answer
	} {
		got = regexp.MustCompile(v.is).ReplaceAll(got, []byte(v.golden))
	}
	if *update {
		must(t, os.WriteFile(recordGolden, got, 0o600))
	}
	if want := read(t, recordGolden); string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The numbers in a record are those of real processes, and its lines work.
func TestRecordIsTrue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.run("new", "demo", "--json", "--", "hello").want(0)
	r := made.record()
	if !alive(r.Client.PID) || startTicks(r.Client.PID) != strconv.FormatUint(r.Client.Start, 10) {
		t.Errorf("client %+v", r.Client)
	}
	if boot := strings.TrimSpace(read(t, "/proc/sys/kernel/random/boot_id")); r.Client.BootID != boot {
		t.Errorf("boot %s, want %s", r.Client.BootID, boot)
	}
	if !alive(r.Supervisor.PID) || r.Supervisor.Since == "" {
		t.Errorf("supervisor %+v", r.Supervisor)
	}
	if r.ElapsedMS == nil || *r.ElapsedMS < 0 || w.show(r.ID).ElapsedMS != nil {
		t.Errorf("elapsed: new %v, show %v", r.ElapsedMS, w.show(r.ID).ElapsedMS)
	}
	if want := []string{"/usr/bin/env", "BERTH_BIN=" + berthBin, "BERTH_HOME=" + w.home, berthBin, "open", r.ID}; !slices.Equal(r.OpenArgv, want) {
		t.Errorf("open_argv %q", r.OpenArgv)
	}
	if _, err := os.Stat(r.Tmux.Socket); err != nil {
		t.Error(err)
	}
}

// The record matches wire/session.json: every key of it is there, of the same type
// or null.
func TestRecordMatchesTheWire(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	x := w.open("new", "demo", "--title", "Flaky test", "--foreground", "--", "hello")
	x.waitFor("You said: hello")
	var list []map[string]any
	w.run("list", "--json").want(0).decode(&list)
	if len(list) != 1 {
		t.Fatalf("%d sessions", len(list))
	}
	var wire map[string]any
	must(t, json.Unmarshal([]byte(wireSession), &wire))
	matchWire(t, "", wire, list[0])
	x.typeIn("\x1c")
	x.wait()
}

// matchWire compares types, key by key; an empty list of ours has none to compare.
func matchWire(t *testing.T, at string, wire, ours any) {
	t.Helper()
	switch want := wire.(type) {
	case map[string]any:
		got, ok := ours.(map[string]any)
		if !ok {
			if ours != nil {
				t.Errorf("%s is a %T", at, ours)
			}
			return
		}
		for _, k := range slices.Sorted(maps.Keys(want)) {
			v, ok := got[k]
			if !ok {
				t.Errorf("%s.%s is missing", at, k)
				continue
			}
			matchWire(t, at+"."+k, want[k], v)
		}
	case []any:
		got, ok := ours.([]any)
		if !ok {
			t.Errorf("%s is a %T", at, ours)
			return
		}
		for _, v := range got {
			matchWire(t, at+"[]", want[0], v)
		}
	case nil: // in the example it has no value: ours may have one
	default:
		if ours != nil && jsonType(want) != jsonType(ours) {
			t.Errorf("%s is %v, and %v on the wire", at, ours, want)
		}
	}
}

func jsonType(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case bool:
		return "bool"
	case float64:
		return "number"
	}
	return "other"
}

// keysOf are the keys of a JSON object, in order.
func keysOf(t *testing.T, doc string) (keys []string) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(doc))
	_, err := d.Token()
	must(t, err)
	for d.More() {
		k, err := d.Token()
		must(t, err)
		keys = append(keys, k.(string))
		must(t, d.Decode(new(json.RawMessage)))
	}
	return keys
}

// allKeys are the keys of a JSON document at any depth.
func allKeys(doc string) (keys []string) {
	for _, m := range regexp.MustCompile(`"([^"\\]+)":`).FindAllStringSubmatch(doc, -1) {
		keys = append(keys, m[1])
	}
	return keys
}

// wireSession is the record as others read it.
const wireSession = `{
 "id": "7k3fq2m9x0abcdef",
 "kind": "conversation",
 "primary_scope": null,
 "attention": "reply",
 "task_ids": [
  "task-1"
 ],
 "workspace": {
  "home_id": "home-1",
  "worktree": "/src/shop",
  "task_id": "task-1",
  "unavailable": null
 },
 "interactive": true,
 "work": {
  "kind": "task",
  "id": "task-1"
 },
 "wave_id": "wave-1",
 "work_path": "checkout / INF-1",
 "actions": [
  {
   "kind": "open",
   "label": "Open here",
   "help": "…",
   "unavailable_reason": "…held elsewhere…"
  },
  {
   "kind": "move_here",
   "label": "Move here",
   "help": "…",
   "unavailable_reason": null
  },
  {
   "kind": "complete",
   "label": "Complete",
   "help": "…",
   "unavailable_reason": null
  }
 ],
 "title": "Flaky test",
 "title_source": "human",
 "flow_membership": {
  "kind": "independent"
 },
 "detail": "claude:opus",
 "provider": "claude",
 "cwd": "/src/shop",
 "state": "active",
 "ready_summary": null,
 "open_argv": [
  "/usr/bin/env",
  "BERTH_BIN=/usr/local/bin/berth",
  "BERTH_HOME=/home/dev/.local/state/berth",
  "/usr/local/bin/berth",
  "open",
  "7k3fq2m9x0abcdef"
 ],
 "terminal_ids": [
  "pane-3"
 ],
 "run": "0m4zr8t1c9ab77xq",
 "phase": "resumable",
 "resumable": true,
 "reason": null,
 "native_id": "453f0a65-9e53-494d-87d2-884988a1e293",
 "held_by": "tmux",
 "turn": {
  "state": "idle",
  "source": "registry",
  "since": "2026-11-30T20:22:32Z"
 }
}`
