//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"berth/internal/session"
	"berth/manifest"
)

// How a supervisor comes to see a request, with each way it has taken from it in
// turn. Every restart is a request to the supervisor before it.
func TestRequestIsSeen(t *testing.T) {
	const bar = 50 * time.Millisecond
	for _, row := range []struct {
		name             string
		exhausted, quiet bool // no inotify instances left; no doorbell
		rounds           int
		check            func(t *testing.T, took []time.Duration)
	}{
		{"by inotify, without a doorbell", false, true, soak(30, 200), func(t *testing.T, took []time.Duration) {
			if p99 := quantile(took, 0.99); p99 > bar {
				t.Errorf("p99 is %v, and may be %v", p99, bar)
			}
		}},
		{"by the doorbell, with inotify exhausted", true, false, soak(5, 50), func(t *testing.T, took []time.Duration) {
			// Looking twice a second would see half of them later than this.
			if p50 := quantile(took, 0.5); p50 > manifest.RescanUnwatched/5 {
				t.Errorf("p50 is %v: that was not the doorbell", p50)
			}
		}},
		{"by looking again, with neither", true, true, soak(5, 50), func(*testing.T, []time.Duration) {}},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			if row.exhausted {
				w.withoutInotify()
			}
			r := w.newDemo("hello")
			var env []string
			if row.quiet {
				env = []string{"BERTHTEST_SWITCH=no-doorbell"}
			}
			for range row.rounds {
				if res := w.runWith(env, nil, "restart", r.ID).want(0); strings.Contains(res.errOut, "taking over") {
					t.Fatalf("a request was not seen: %s", res.errOut)
				}
			}
			took := w.seen(r)
			if len(took) != row.rounds {
				t.Fatalf("%d of %d requests were acted on", len(took), row.rounds)
			}
			t.Logf("request visible → acted on, %d rounds: p50 %v, p90 %v, p99 %v, max %v", len(took),
				quantile(took, 0.5), quantile(took, 0.9), quantile(took, 0.99), quantile(took, 1))
			row.check(t, took)
		})
	}
}

// withoutInotify makes the commands of this world, and all they start, find no
// inotify instance left: in a user namespace of their own, whose limit is used up.
func (w *world) withoutInotify() {
	w.t.Helper()
	const limit = "/proc/sys/user/max_inotify_instances"
	wrapper := filepath.Join(filepath.Dir(w.home), "berth")
	script := fmt.Sprintf("#!/bin/sh\nexec unshare -U -r sh -c 'echo 0 >%s && exec \"$0\" \"$@\"' %s \"$@\"\n", limit, berthBin)
	if err := os.WriteFile(wrapper, []byte(script), 0o755); err != nil {
		w.t.Fatal(err)
	}
	w.bin = wrapper
	if out := w.run("doctor").out; !strings.Contains(out, "none left") {
		w.t.Fatalf("doctor does not say that inotify is exhausted:\n%s", out)
	}
}

// seen is, for every request of a run, how long after it was there the supervisor
// began to end the client.
func (w *world) seen(r session.Record) (took []time.Duration) {
	w.t.Helper()
	var acted []time.Time
	for _, e := range w.events(r) {
		if e.Event == "ending" {
			at, err := time.Parse(time.RFC3339Nano, e.At)
			if err != nil {
				w.t.Fatal(err)
			}
			acted = append(acted, at)
		}
	}
	for i, at := range acted {
		var st syscall.Stat_t
		if err := syscall.Stat(filepath.Join(w.runDir(r), "requests", strconv.Itoa(i+1)+".json"), &st); err != nil {
			w.t.Fatal(err)
		}
		took = append(took, at.Sub(time.Unix(st.Ctim.Unix()))) // its last change was to get its name
	}
	return took
}

func quantile(ds []time.Duration, q float64) time.Duration {
	ds = slices.Sorted(slices.Values(ds))
	return ds[min(int(q*float64(len(ds))), len(ds)-1)].Round(10 * time.Microsecond)
}

// flood is more events than the kernel keeps for one watcher.
const flood = 20_000

// A watched directory gets more events at once than the kernel keeps. What it did not
// tell is seen all the same, within a second.
func TestEventOverflow(t *testing.T) {
	for _, row := range []struct {
		name string
		fill func(t *testing.T, w *world, r session.Record)
		last func(t *testing.T, w *world, r session.Record) // after it the state must become right
		seen func(w *world, r session.Record) bool
	}{
		{
			name: "in the requests",
			fill: func(t *testing.T, w *world, r session.Record) {
				for i := range flood {
					if err := os.WriteFile(filepath.Join(w.runDir(r), "requests", fmt.Sprintf("junk-%d", i)), nil, 0o600); err != nil {
						t.Fatal(err)
					}
				}
			},
			last: func(t *testing.T, w *world, r session.Record) {
				c := w.start([]string{"BERTHTEST_SWITCH=no-doorbell"}, "stop", r.ID)
				w.eventually("the request is there", func() bool { return exists(filepath.Join(w.runDir(r), "requests", "1.json")) })
				t.Cleanup(func() { c.wait().want(0) })
			},
			seen: func(w *world, r session.Record) bool { return len(w.seen(r)) == 1 },
		},
		{
			name: "in the inbox",
			fill: func(t *testing.T, w *world, r session.Record) {
				for range flood / 4 { // each is made, written, moved from and moved to
					if err := manifest.Announce(w.runDir(r), manifest.Announcement{Turn: manifest.TurnIdle, Source: "hook"}); err != nil {
						t.Fatal(err)
					}
				}
			},
			last: func(t *testing.T, w *world, r session.Record) {
				a := manifest.Announcement{Turn: manifest.TurnWaiting, WaitingFor: "the last word", Source: "hook"}
				if err := manifest.Announce(w.runDir(r), a); err != nil {
					t.Fatal(err)
				}
			},
			seen: func(w *world, r session.Record) bool {
				s, err := manifest.Dir(w.runDir(r)).Supervisor()
				return err == nil && s.Turn.State == manifest.TurnWaiting && s.Turn.WaitingFor == "the last word"
			},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.newDemo("hello")
			w.freeze(r.Supervisor.PID) // so that the kernel has to keep them all
			row.fill(t, w, r)
			row.last(t, w, r)
			kill(t, r.Supervisor.PID, syscall.SIGCONT)
			begin := time.Now()
			w.eventually("the supervisor has seen the last of it", func() bool { return row.seen(w, r) })
			if took := time.Since(begin); took > time.Second {
				t.Errorf("that took %v, and may take a second", took)
			} else {
				t.Logf("seen after %v", took)
			}
		})
	}
}
