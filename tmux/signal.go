package tmux

import (
	"berth/clients"

	"golang.org/x/sys/unix"
)

// signalProcess signals exactly the process id names, held while it is.
func signalProcess(id clients.Identity, sig unix.Signal) error {
	h, err := clients.Open(id)
	if err != nil {
		return err
	}
	defer h.Close()
	return h.Signal(sig)
}
