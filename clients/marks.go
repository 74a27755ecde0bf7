package clients

import (
	"bytes"
	"strings"
)

// The variables by which a process says whose it is. They are set when it is
// started and inherited by what it starts.
const (
	RunMark    = "BERTH_RUN_ID"
	RoleMark   = "BERTH_ROLE"
	HomeMark   = "BERTH_HOME"
	RunDirMark = "BERTH_RUN_DIR"
)

// The roles that make a process a border: nothing below it belongs to the run it
// was started from.
const (
	RoleSupervisor = "supervisor"
	RoleTmux       = "tmux"
)

// Marks is what a process's environment says of it; "" where it says nothing.
type Marks struct {
	Run    string // the run it works for
	Role   string // RoleSupervisor or RoleTmux for a border
	Home   string // the home it belongs to
	RunDir string // the run directory of a supervisor
}

// border reports whether the marks claim to be one.
func (m Marks) border() bool { return m.Role == RoleSupervisor || m.Role == RoleTmux }

// parseMarks finds the marks among NUL-terminated NAME=value strings. As for
// getenv(3), the first of a name counts.
func parseMarks(environ []byte) Marks {
	var m Marks
	for kv := range bytes.SplitSeq(environ, []byte{0}) {
		if !bytes.HasPrefix(kv, []byte("BERTH_")) {
			continue
		}
		name, value, _ := strings.Cut(string(kv), "=")
		for _, mark := range []struct {
			name string
			to   *string
		}{{RunMark, &m.Run}, {RoleMark, &m.Role}, {HomeMark, &m.Home}, {RunDirMark, &m.RunDir}} {
			if name == mark.name && *mark.to == "" {
				*mark.to = value
			}
		}
	}
	return m
}
