package supervisor

import (
	"slices"
	"time"

	"berth/clients"
	"berth/manifest"
)

// The bounds of a restart policy.
const (
	firstBackoff = 1 * time.Second
	maxBackoff   = 5 * time.Minute
	crashWindow  = 10 * time.Minute // failures within it count together; a client that lived so long starts afresh
	crashLoop    = 5                // so many failures in the window, and the session is held
)

// next says what becomes of a session whose client has just ended by itself: whether
// another follows, after how long, and the counters as they are now. It is pure; now
// is the time of the end, lived how long the client ran.
func next(p manifest.Restarts, outcome clients.Outcome, lived time.Duration, now time.Time) (manifest.Restarts, time.Duration, bool) {
	if p.Policy == manifest.RestartNever || p.Policy == "" {
		return p, 0, false
	}
	if outcome == clients.Completed { // a person's own exit is not a failure
		return p, firstBackoff, p.Policy == manifest.RestartAlways
	}
	if lived >= crashWindow {
		p.Failures, p.Count = nil, 0
	}
	p.Failures = append(slices.DeleteFunc(slices.Clone(p.Failures), func(t time.Time) bool { return now.Sub(t) >= crashWindow }), now)
	p.Count++
	if p.Held = len(p.Failures) >= crashLoop; p.Held {
		return p, 0, false
	}
	return p, min(firstBackoff<<min(p.Count-1, 20), maxBackoff), true
}
