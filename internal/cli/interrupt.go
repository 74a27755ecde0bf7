package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// errInterrupted is the cause of the context that a person's ctrl-C ends, or ctrl-\:
// the key that leaves an open is typed at one that still waits, too.
var errInterrupted = errors.New("interrupted")

// interruptible returns a context that the first SIGINT or SIGQUIT cancels with
// errInterrupted; the second ends the process as if there was no handler. A
// SIGINT that our parent has us ignore (a shell's background job) stays ignored.
// stop waits until the handler is gone.
func interruptible(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	if signal.Ignored(os.Interrupt) {
		return ctx, func() { cancel(context.Canceled) }
	}
	signals := make(chan os.Signal, 1) // one: a second arrives after Stop, or changes nothing
	signal.Notify(signals, os.Interrupt, unix.SIGQUIT)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer signal.Stop(signals)
		select {
		case <-signals:
			cancel(errInterrupted)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(context.Canceled)
		<-done
	}
}

func interrupted(ctx context.Context) bool {
	return errors.Is(context.Cause(ctx), errInterrupted)
}
