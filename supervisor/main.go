package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"time"

	"berth/clients"
	"berth/internal/point"
	"berth/launcher"
	"berth/lock"
	"berth/manifest"

	"golang.org/x/sys/unix"
)

// Times, all in one place.
const (
	lifeLockWait    = 2 * time.Second        // another may be looking at the lock, or just leaving
	handshakeWait   = 2 * time.Second        // for a host's hello
	partingWait     = 20 * time.Millisecond  // for the word of a terminal that is leaving
	lookWait        = 1 * time.Second        // for a tmux host to count who watches its pane
	drainWait       = 300 * time.Millisecond // for the last output after the client's end: a grandchild may hold the terminal
	farewellWait    = 1 * time.Second        // for hosts to take the last bytes
	stallAfter      = 250 * time.Millisecond // a holder without progress for so long no longer slows the client
	queryWait       = 500 * time.Millisecond // for a terminal's answer
	fenceWait       = 2 * time.Second        // for a tmux pane to show what it was sent
	flushAfter      = 20 * time.Millisecond  // an escape sequence the client began and did not finish
	nudgeAfter      = 30 * time.Millisecond  // between the two sizes that make a client repaint
	resizeWait      = 500 * time.Millisecond // for a tmux pane to take on the size it is told
	serverLostWait  = 500 * time.Millisecond // for the tmux server's end, after a pane hung up
	historyPatience = time.Minute            // and how long that is looked for after the last of it
	historyLook     = 100 * time.Millisecond // after output, to see whether the history is recorded
)

// Run is the whole life of a supervisor process, from the spec it is handed to its
// exit status. version is berth's.
func Run(version string) int {
	// The signals of a closing terminal do nothing. They are caught, not ignored: an
	// ignored signal would be inherited by the client through exec.
	signal.Notify(make(chan os.Signal, 1), unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGPIPE) // never read
	spec, birth, err := launcher.ReadSpec()
	if err == nil {
		err = supervise(spec, birth, version)
	}
	if err != nil {
		birth.Over(err)
		fmt.Fprintf(os.Stderr, "%s %v\n", time.Now().UTC().Format(time.RFC3339), err) //nolint:errcheck // nobody left to tell
		return 1
	}
	return 0
}

// supervise takes the session's life lock and the launch, and then runs the loop.
func supervise(spec launcher.Spec, birth *launcher.Birth, version string) (err error) {
	if err := clients.BecomeSubreaper(); err != nil {
		return fmt.Errorf("cannot adopt orphans: %w", err)
	}
	// The first client's gate takes longest to come up, so it begins to before anything
	// else. It does nothing until told, and ends with us. If it cannot be started,
	// start tries again and says why.
	gate, _ := launcher.StartGate(spec.Client)
	life, err := lock.Acquire(context.Background(), spec.Home.Locks(), spec.Session, lock.Life, "supervisor", lifeLockWait)
	if err != nil {
		return fmt.Errorf("cannot supervise run %s: %w", spec.Run, err)
	}
	defer func() { err = errors.Join(err, life.Release()) }()
	err = spec.Dir().Advance(manifest.Launching, manifest.Supervised)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("too late for run %s: its launch was settled without us", spec.Run)
	}
	if err != nil {
		return err
	}
	point.Here("supervisor.claimed")
	s := newLoop(spec, version)
	s.gate = gate
	return s.run(birth)
}
