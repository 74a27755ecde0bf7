//go:build !linux

package tmux

import "os"

// outputFile is an empty file without a name, for what a client prints.
func outputFile() (*os.File, error) {
	f, err := os.CreateTemp("", "berth-tmux-*")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}
