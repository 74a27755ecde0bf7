package supervisor

import (
	"testing"
	"time"

	"berth/clients"
	"berth/manifest"
)

func TestPolicy(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name    string
		policy  string
		outcome clients.Outcome
		follows bool
	}{
		{"never restarts nothing", manifest.RestartNever, clients.Failed, false},
		{"no policy restarts nothing", "", clients.Interrupted, false},
		{"on-failure leaves a person's own exit", manifest.RestartOnFailure, clients.Completed, false},
		{"on-failure follows a failure", manifest.RestartOnFailure, clients.Failed, true},
		{"on-failure follows a crash", manifest.RestartOnFailure, clients.Interrupted, true},
		{"always follows a person's own exit", manifest.RestartAlways, clients.Completed, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, _, follows := next(manifest.Restarts{Policy: test.policy}, test.outcome, time.Second, now)
			if follows != test.follows {
				t.Errorf("follows %v", follows)
			}
			if test.outcome == clients.Completed && p.Count != 0 {
				t.Error("a person's own exit counts as a failure")
			}
		})
	}
}

func TestBackoffDoublesAndACrashLoopIsHeld(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	p := manifest.Restarts{Policy: manifest.RestartAlways}
	var delays []time.Duration
	for range crashLoop {
		var d time.Duration
		var follows bool
		p, d, follows = next(p, clients.Failed, time.Second, now)
		now = now.Add(d + time.Second)
		if !follows {
			break
		}
		delays = append(delays, d)
	}
	want := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}
	if len(delays) != len(want) || !p.Held {
		t.Fatalf("delays %v, held %v", delays, p.Held)
	}
	for i := range want {
		if delays[i] != want[i] {
			t.Errorf("delays %v", delays)
		}
	}
}

func TestBackoffIsBounded(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	p := manifest.Restarts{Policy: manifest.RestartAlways}
	for range 40 { // failures too rare to be a loop, too frequent to be stable
		var d time.Duration
		var follows bool
		p, d, follows = next(p, clients.Failed, crashWindow/4, now)
		if !follows || d > maxBackoff || d < firstBackoff {
			t.Fatalf("after %d failures: %v, follows %v", p.Count, d, follows)
		}
		now = now.Add(crashWindow / 4)
	}
}

func TestAStableClientStartsAfresh(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	p := manifest.Restarts{Policy: manifest.RestartOnFailure, Count: 4, Failures: []time.Time{now.Add(-time.Minute)}}
	p, d, follows := next(p, clients.Failed, crashWindow, now)
	if !follows || d != firstBackoff || p.Count != 1 || len(p.Failures) != 1 {
		t.Errorf("%+v, %v, %v", p, d, follows)
	}
}
