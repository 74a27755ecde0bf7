package tmux

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

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

// What names and ids are made of. Checked by hand: compiled, these patterns cost
// every process of ours 1 ms and half a megabyte at its start.
const (
	letters   = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	nameChars = letters + "0123456789_-"
	idChars   = nameChars + ".:"
)

// validName reports whether tmux keeps name as it is.
func validName(name string) bool {
	return name != "" && len(name) <= 64 && strings.Trim(name[:1], letters) == "" && strings.Trim(name, nameChars) == ""
}

// validID reports whether id can stand in a format and a row.
func validID(id string) bool {
	return id != "" && len(id) <= 400 && strings.Trim(id, idChars) == ""
}

func badID(id string) error {
	return session.Errorf(session.Usage, "%q cannot be the id of a session", id)
}
