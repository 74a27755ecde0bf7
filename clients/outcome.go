package clients

import "syscall"

// Outcome is how a client's end is to be taken.
type Outcome string

const (
	Completed   Outcome = "completed"   // it finished, or somebody asked for its end
	Failed      Outcome = "failed"      // it gave up by itself, with a status
	Interrupted Outcome = "interrupted" // something nobody asked for ended it: `restart --interrupted` brings it back
)

// Cause is what is known of why a client ended, besides its status.
type Cause int

const (
	ByItself Cause = iota // nobody is known to have asked
	Asked                 // stop, restart, replace, complete, a closed pane
	Shutdown              // the machine or the login is ending
	Lost                  // its end was not seen: reboot, or its supervisor died
)

// OutcomeOf takes a client's exit status (nil when a signal ended it or nobody
// saw) and signal (0 for none). A status of 128 and a signal counts as the signal:
// agents catch SIGTERM, save, and say 143. SIGINT is the person's ctrl-C, a way to
// quit, so it completes.
func OutcomeOf(exitCode *int, sig syscall.Signal, cause Cause) Outcome {
	switch cause {
	case Asked:
		return Completed
	case Shutdown, Lost:
		return Interrupted
	}
	if sig == 0 && exitCode != nil && *exitCode > 128 {
		switch s := syscall.Signal(*exitCode - 128); s {
		case syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL:
			sig = s
		}
	}
	switch {
	case sig == syscall.SIGINT:
		return Completed
	case sig != 0, exitCode == nil:
		return Interrupted
	case *exitCode == 0:
		return Completed
	}
	return Failed
}
