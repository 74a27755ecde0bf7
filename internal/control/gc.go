package control

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"berth/internal/atomicfile"
	"berth/internal/session"
	"berth/lock"
	"berth/manifest"
)

// How old litter must be before it is swept: older than anything that could still be
// at work with it.
const (
	tempAge    = time.Hour          // half-written files and half-published runs
	requestAge = 7 * 24 * time.Hour // answered requests, kept so long for whoever asks why
)

// Litter is something that gc removes, and why it may.
type Litter struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Collect finds what crashes have left behind and nothing needs: half-written files,
// sockets nobody listens on, old answered requests. Unless dry it removes it. Evidence
// and conversations are never litter.
func (c *Control) Collect(ctx context.Context, dry bool) ([]Litter, error) {
	out, err := c.litter(ctx)
	if err != nil || dry {
		return out, err
	}
	var errs []error
	for _, l := range out {
		if err := os.RemoveAll(l.Path); err != nil {
			errs = append(errs, session.Errorf(session.Failed, "cannot remove %s: %w", l.Path, err))
		}
	}
	return out, errors.Join(errs...)
}

func (c *Control) litter(ctx context.Context) ([]Litter, error) {
	out := []Litter{}
	old := func(path string, age time.Duration) bool {
		st, err := os.Lstat(path)
		return err == nil && time.Since(st.ModTime()) > age
	}
	add := func(pattern, why string, age time.Duration) error {
		paths, err := filepath.Glob(filepath.Join(c.Home.Dir, pattern))
		for _, p := range paths {
			if old(p, age) {
				out = append(out, Litter{p, why})
			}
		}
		return err
	}
	for _, l := range []struct {
		pattern, why string
		age          time.Duration
	}{
		{"runs/??/.publish-*", "a run that was never published", tempAge},
		{"runs/??/*/" + atomicfile.TempDir + "/*", "a file that was never finished", tempAge},
		{"runs/??/*/*/" + atomicfile.TempDir + "-*", "a file that was never finished", tempAge},
		{atomicfile.TempDir + "-*", "a file that was never finished", tempAge},
		{"runs/??/*/requests/*.done.json", "the answer to an old request", requestAge},
	} {
		if err := add(l.pattern, l.why, l.age); err != nil {
			return out, err
		}
	}
	// A supervisor that lives counts on the numbers of the requests it has seen.
	out = slices.DeleteFunc(out, func(l Litter) bool {
		if !strings.HasSuffix(l.Path, ".done.json") {
			return false
		}
		unserved, err := c.unserved(ctx, filepath.Base(filepath.Dir(filepath.Dir(l.Path))))
		return err != nil || !unserved
	})
	for _, l := range out { // a request goes with its answer
		if req, ok := strings.CutSuffix(l.Path, ".done.json"); ok {
			out = append(out, Litter{req + ".json", "an old request that was answered"})
		}
	}
	sockets, err := os.ReadDir(c.Home.Sockets)
	if err != nil {
		return out, err
	}
	for _, s := range sockets {
		if dead, err := c.unserved(ctx, s.Name()); err != nil {
			return out, err
		} else if dead {
			out = append(out, Litter{filepath.Join(c.Home.Sockets, s.Name()), "a socket nobody listens on"})
		}
	}
	return out, nil
}

// unserved reports whether run is one whose session has no supervisor.
func (c *Control) unserved(ctx context.Context, run string) (bool, error) {
	if !session.IsID(run) {
		return false, nil
	}
	m, err := manifest.Dir(c.Home.Run(run)).Manifest()
	id := m.Session
	if errors.Is(err, fs.ErrNotExist) {
		r, err := c.DB.ResolveRun(ctx, run)
		if err != nil && session.ClassOf(err) == session.NotFound {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		id = r.SessionID
	} else if err != nil {
		return false, nil // what cannot be read is no litter
	}
	held, _, err := lock.Held(c.Home.Locks(), id, lock.Life)
	return err == nil && !held, err
}
