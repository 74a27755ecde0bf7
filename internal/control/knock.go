package control

import (
	"context"
	"errors"
	"os"
	"time"

	"berth/manifest"
)

// knockWait is how long a command waits for a socket to be made again.
const knockWait = 2 * time.Second

// knock has a supervisor whose socket somebody cleaned away make it again: it looks
// when its run directory is touched. A socket that does not come shows in the dial.
func (c *Control) knock(ctx context.Context, t target) {
	missing := func() bool {
		_, err := os.Lstat(c.Home.RunSocket(t.CurrentRun))
		return errors.Is(err, os.ErrNotExist)
	}
	if !missing() || t.dir.Touch() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, knockWait)
	defer cancel()
	w := manifest.Watch(c.Home.Sockets)
	defer w.Close()
	for missing() && c.pause(ctx, w, knockWait) == nil {
	}
}
