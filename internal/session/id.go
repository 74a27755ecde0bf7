package session

import (
	"crypto/rand"
	"strings"
)

// IDLen is the length of the ids berth makes: 16 characters, 80 random bits.
const IDLen = 16

// MinPrefix is the shortest prefix of an id that names it on a command line.
const MinPrefix = 4

const crockford = "0123456789abcdefghjkmnpqrstvwxyz"

// NewID returns a new random id of IDLen lower-case Crockford base32 characters.
func NewID() string {
	var b [IDLen]byte
	rand.Read(b[:]) //nolint:errcheck // crypto/rand.Read never fails since Go 1.24
	for i := range b {
		b[i] = crockford[b[i]&31]
	}
	return string(b[:])
}

// IsID reports whether s is a whole id as NewID makes them.
func IsID(s string) bool {
	return len(s) == IDLen && strings.Trim(s, crockford) == ""
}

// NormalizeID folds what people type: upper case, and Crockford's i l o for 1 1 0.
func NormalizeID(s string) string {
	return strings.NewReplacer("i", "1", "l", "1", "o", "0").Replace(strings.ToLower(s))
}

// nameChars are what names are made of, up to maxName of them.
const (
	nameChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
	maxName   = 64
)

// ValidName reports whether s can be an id, task id, flow, node or provider name.
func ValidName(s string) bool {
	return s != "" && len(s) <= maxName && strings.Trim(s, nameChars) == "" && s != "." && s != ".."
}
