package clients

import (
	"syscall"
	"testing"
)

func TestOutcomeOf(t *testing.T) {
	exit := func(n int) *int { return &n }
	for _, c := range []struct {
		name  string
		exit  *int
		sig   syscall.Signal
		cause Cause
		want  Outcome
	}{
		{"quit", exit(0), 0, ByItself, Completed},
		{"gave up", exit(3), 0, ByItself, Failed},
		{"odd status", exit(255), 0, ByItself, Failed},
		{"killed", nil, syscall.SIGKILL, ByItself, Interrupted},
		{"crashed", nil, syscall.SIGSEGV, ByItself, Interrupted},
		{"caught SIGTERM", exit(143), 0, ByItself, Interrupted},
		{"caught SIGHUP", exit(129), 0, ByItself, Interrupted},
		{"ctrl-C", nil, syscall.SIGINT, ByItself, Completed},
		{"caught ctrl-C", exit(130), 0, ByItself, Completed},
		{"nobody saw", nil, 0, ByItself, Interrupted},
		{"asked", nil, syscall.SIGKILL, Asked, Completed},
		{"asked, failed", exit(1), 0, Asked, Completed},
		{"shutdown", exit(0), 0, Shutdown, Interrupted},
		{"reboot", nil, 0, Lost, Interrupted},
	} {
		if got := OutcomeOf(c.exit, c.sig, c.cause); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
