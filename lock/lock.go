// Package lock is the kernel's advisory locks that berth's rules stand on, three a
// session: the launch lock (who may change which client drives it), the life lock
// (held by its supervisor for as long as it lives) and the writer lease of its
// transcript; and one for the writers of the registry.
//
// A lock ends with its holder, never by age; lock files are never unlinked, since a
// second file of one name would be a second lock. The holder's name inside the file
// is for the text of refusals only.
package lock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"
)

// Kind is which of a session's locks.
type Kind string

// The three kinds; each is the suffix of the lock's file.
const (
	Launch Kind = "launch"
	Life   Kind = "life"
	Write  Kind = "write"
)

// Holder says who holds a lock, for refusals.
type Holder struct {
	What  string    `json:"what"` // the command or part: "berth restart", "supervisor"
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
}

// String is what a refusal prints.
func (h Holder) String() string {
	if h.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("%s (pid %d, since %s)", h.What, h.PID, h.Since.Local().Format("15:04:05"))
}

// HeldError says that the lock is somebody else's. The holder's name may be of
// the one before, when the present one took it this instant.
type HeldError struct {
	Kind   Kind
	Holder Holder
}

func (e *HeldError) Error() string { return fmt.Sprintf("the %s lock is held by %s", e.Kind, e.Holder) }

// Lock is a held lock; whoever is handed one may rely on it until Release.
type Lock struct{ file *flock.Flock }

// Acquire takes the lock of a session, waiting at most wait (0: try once) and no
// longer than ctx. When it cannot, the error is a *HeldError naming the holder.
func Acquire(ctx context.Context, dir, session string, kind Kind, what string, wait time.Duration) (*Lock, error) {
	return AcquireFile(ctx, file(dir, session, kind), kind, what, wait)
}

// AcquireFile is Acquire for a lock that is not a session's: the file path itself.
func AcquireFile(ctx context.Context, path string, kind Kind, what string, wait time.Duration) (*Lock, error) {
	l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW), flock.SetPermissions(0o600))
	ok, err := l.TryLock()
	if err == nil && !ok && wait > 0 {
		ok, err = await(ctx, l, wait)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot lock %s: %w", path, err)
	case !ok:
		return nil, &HeldError{kind, holder(path)}
	}
	sign(path, what)
	return &Lock{l}, nil
}

// await blocks in the kernel, so that it has the lock the moment it is free. A
// blocked flock cannot be cancelled: when the wait ends first, the attempt is left
// to give the lock back as soon as it gets it.
func await(ctx context.Context, l *flock.Flock, wait time.Duration) (bool, error) {
	got := make(chan error, 1) // one result, so the sender never waits
	go func() { got <- l.Lock() }()
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case err := <-got:
		return err == nil, err
	case <-t.C:
	case <-ctx.Done():
	}
	go func() {
		if <-got == nil {
			l.Unlock() //nolint:errcheck // ends with the process at the latest
		}
	}()
	return false, context.Cause(ctx)
}

// Release gives the lock up. The file stays.
func (l *Lock) Release() error { return l.file.Close() }

// Held reports whether somebody holds the lock now. It takes no lock that an
// Acquire with a wait could not sit out: a shared one, for microseconds.
func Held(dir, session string, kind Kind) (bool, Holder, error) {
	path := file(dir, session, kind)
	l := flock.New(path, flock.SetFlag(os.O_RDONLY|unix.O_NOFOLLOW))
	ok, err := l.TryRLock()
	defer l.Close() //nolint:errcheck // only looked
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, Holder{}, nil
	case err != nil:
		return false, Holder{}, fmt.Errorf("cannot examine lock %s: %w", path, err)
	case ok:
		return false, Holder{}, nil
	}
	return true, holder(path), nil
}

// file is the lock's path. A session's id may hold characters a file name may not
// (a review's has colons), so the name is a hash of it.
func file(dir, session string, kind Kind) string {
	sum := sha256.Sum256([]byte(session))
	return filepath.Join(dir, hex.EncodeToString(sum[:16])+"."+string(kind))
}

// sign writes the holder's name into the file. A failure costs a refusal its name,
// nothing else.
func sign(path, what string) {
	data, err := json.Marshal(Holder{What: what, PID: os.Getpid(), Since: time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return
	}
	f.Write(data) //nolint:errcheck // see above
	f.Close()     //nolint:errcheck // see above
}

func holder(path string) Holder {
	var h Holder
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &h) != nil {
		return Holder{}
	}
	return h
}

// Existed reports whether the lock was ever taken: its file is never unlinked.
func Existed(dir, session string, kind Kind) bool {
	_, err := os.Lstat(file(dir, session, kind))
	return err == nil
}
