package tmux

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"

	"berth/internal/session"
)

// nameIDLen is how much of an id is in a tmux name: 60 random bits.
const nameIDLen = 12

// Name is the name of the tmux session of berth's session id: the same as tmux
// will print it, whatever the title is. An id that NewID did not make (a review's)
// may hold ':' and share its beginning with others, so it is hashed.
func Name(id string) string {
	if !session.IsID(id) {
		sum := sha256.Sum256([]byte(id))
		id = hex.EncodeToString(sum[:])
	}
	return "berth-" + id[:nameIDLen]
}

var (
	safeName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)
	safeID   = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,400}$`)
)

// validID reports whether id can stand in a format and a row.
func validID(id string) bool { return safeID.MatchString(id) }

func badID(id string) error {
	return session.Errorf(session.Usage, "%q cannot be the id of a session", id)
}
