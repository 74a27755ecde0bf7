//go:build linux

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"berth/manifest"
)

func events(t *testing.T, out string) []manifest.Event {
	t.Helper()
	var es []manifest.Event
	for line := range strings.Lines(out) {
		var e manifest.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("not an event: %v: %s", err, line)
		}
		es = append(es, e)
	}
	return es
}

// The events of all sessions come as one stream in the order of time, those of one
// session alone, and --follow goes on with what happens, new sessions included.
func TestEventsMergeAndFollow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.newDemo("a"), w.newDemo("b")
	all := events(t, w.run("events").want(0).out)
	seen := map[string]bool{}
	for i, e := range all {
		seen[e.Session] = true
		if i > 0 && e.At < all[i-1].At {
			t.Fatalf("event %d is earlier than the one before it", i)
		}
	}
	if !seen[a.ID] || !seen[b.ID] {
		t.Fatalf("events of %v", seen)
	}
	for _, e := range events(t, w.run("events", a.ID).want(0).out) {
		if e.Session != a.ID {
			t.Fatalf("an event of %s among those of %s", e.Session, a.ID)
		}
	}

	ctx, cancel := context.WithCancel(context.Background())
	follow := w.command(ctx, nil, "events", "--follow")
	out, err := follow.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	defer follow.Wait()
	defer cancel()
	lines := bufio.NewScanner(out)
	next := func(session, event string) {
		t.Helper()
		for lines.Scan() {
			if e := events(t, lines.Text())[0]; e.Event == event && (session == "" || e.Session == session) {
				return
			}
		}
		t.Fatalf("the stream ended before %q", event)
	}
	next(b.ID, "recorded")
	w.run("stop", a.ID).want(0)
	next(a.ID, "ended")
	c := w.newDemo("c")
	next(c.ID, "recorded")
}
