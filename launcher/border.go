package launcher

import (
	"path/filepath"

	"berth/clients"
	"berth/internal/home"
	"berth/manifest"
	"berth/tmux"
)

// IsBorder confirms, for clients.TreeSpec, that a process whose environment calls it
// a supervisor or a tmux server is the one its home has on record.
func IsBorder(p clients.Process) bool {
	switch p.Role {
	case clients.RoleSupervisor:
		s, err := manifest.Dir(p.RunDir).Supervisor()
		return err == nil && filepath.IsAbs(p.RunDir) && s.Process == p.Identity
	case clients.RoleTmux:
		h := home.Home{Dir: p.Home}
		r, err := tmux.New(tmux.Options{Record: h.TmuxRecord()}).ReadRecord()
		return err == nil && filepath.IsAbs(p.Home) && r.Server == p.Identity
	}
	return false
}
