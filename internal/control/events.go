package control

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"berth/internal/registry"
	"berth/internal/session"
	"berth/manifest"
)

// Events yields what happened to a session, or to all ("" for ref), oldest first,
// and with follow goes on until ctx ends. A lost tmux server, which every one of its
// sessions notes, is one event that names them all.
func (c *Control) Events(ctx context.Context, ref string, follow bool, yield func(manifest.Event) error) error {
	read := map[manifest.Dir]int64{} // how far each run's events were read
	for {
		dirs, err := c.eventDirs(ctx, ref)
		if err != nil {
			return err
		}
		more, err := c.eventsOf(ctx, ref, dirs, read, follow, yield)
		if err != nil || !more {
			return err
		}
	}
}

// eventsOf yields the events of these runs, and with follow goes on until ctx ends
// or, with more, until there are other runs, which need watches of their own.
func (c *Control) eventsOf(ctx context.Context, ref string, dirs []manifest.Dir, read map[manifest.Dir]int64, follow bool, yield func(manifest.Event) error) (more bool, err error) {
	watch := []string{filepath.Join(c.Home.Dir, "runs")}
	for _, d := range dirs {
		watch = append(watch, string(d))
	}
	w := manifest.Watch(watch...) // before the first read, so that nothing falls between
	defer w.Close()
	for {
		batch, err := newEvents(dirs, read)
		if err == nil && follow && slices.ContainsFunc(batch, lostServer) {
			select {
			case <-time.After(lostTogether):
			case <-ctx.Done():
				return false, nil
			}
			var rest []manifest.Event
			rest, err = newEvents(dirs, read)
			batch = append(batch, rest...)
		}
		if err != nil {
			return false, err
		}
		for _, e := range mergeLost(batch) {
			if err := yield(e); err != nil {
				return false, err
			}
		}
		if !follow {
			return false, nil
		}
		select {
		case <-w.C:
		case <-ctx.Done():
			return false, nil
		}
		if now, err := c.eventDirs(ctx, ref); err != nil || len(now) != len(dirs) {
			return true, err
		}
	}
}

// eventDirs are the run directories whose events are wanted.
func (c *Control) eventDirs(ctx context.Context, ref string) ([]manifest.Dir, error) {
	var ids []string
	if ref != "" {
		t, err := c.find(ctx, ref)
		if err != nil {
			return nil, err
		}
		ids = []string{t.ID}
	} else {
		for s, err := range c.DB.Each(ctx, registry.Filter{All: true}) {
			if err != nil {
				return nil, err
			}
			ids = append(ids, s.ID)
		}
	}
	var dirs []manifest.Dir
	for _, id := range ids {
		runs, err := c.DB.Runs(ctx, id)
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			if d := manifest.Dir(c.Home.Run(r.ID)); dirExists(string(d)) {
				dirs = append(dirs, d)
			}
		}
	}
	return dirs, nil
}

// newEvents reads what was appended since the last read, in the order of time. A
// line that is still being written is left for the next read.
func newEvents(dirs []manifest.Dir, read map[manifest.Dir]int64) ([]manifest.Event, error) {
	var out []manifest.Event
	for _, d := range dirs {
		f, err := os.Open(d.Path("events.jsonl"))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, session.Errorf(session.Unknown, "cannot read events: %w", err)
		}
		events, n, err := eventsFrom(f, read[d])
		f.Close() //nolint:errcheck // read only
		if err != nil {
			return nil, session.Errorf(session.Unknown, "cannot read %s: %w", d.Path("events.jsonl"), err)
		}
		read[d] = n
		out = append(out, events...)
	}
	slices.SortStableFunc(out, func(a, b manifest.Event) int { return cmp.Compare(a.At, b.At) })
	return out, nil
}

// eventsFrom decodes the whole lines from offset on, and returns where they end.
func eventsFrom(f io.ReadSeeker, offset int64) ([]manifest.Event, int64, error) {
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return nil, offset, err
	}
	var out []manifest.Event
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return out, offset, nil
		}
		if err != nil {
			return out, offset, err
		}
		offset += int64(len(line))
		var e manifest.Event
		if json.Unmarshal(bytes.TrimSpace(line), &e) == nil { // a full disk may have cut one short
			out = append(out, e)
		}
	}
}

// lostTogether is how long the sessions of one lost tmux server may take to note it,
// each by itself: what a supervisor waits for the server's end, and some.
const lostTogether = time.Second

func lostServer(e manifest.Event) bool { return e.Event == manifest.EventServerLost }

// mergeLost makes one event of those by which the sessions of one tmux server say
// that it was lost.
func mergeLost(events []manifest.Event) []manifest.Event {
	merged := map[any]int{} // server → its event's place in out
	out := events[:0:0]
	for _, e := range events {
		if !lostServer(e) {
			out = append(out, e)
			continue
		}
		server := fmt.Sprint(e.Detail["server"])
		i, seen := merged[server]
		if !seen {
			i = len(out)
			merged[server] = i
			out = append(out, manifest.Event{SchemaVersion: e.SchemaVersion, At: e.At, Event: e.Event,
				Detail: map[string]any{"server": e.Detail["server"], "sessions": []string{}}})
		}
		d := out[i].Detail
		d["sessions"] = append(d["sessions"].([]string), e.Session)
	}
	return out
}
