package tmux

import (
	"errors"
	"io/fs"
	"time"

	"berth/clients"
	"berth/internal/atomicfile"
	"berth/internal/session"
)

const recordVersion = 1

// Record is tmux.json: which process the server is. It is written by whoever
// started the server, and outlives it: only its being dead lets another be started.
type Record struct {
	SchemaVersion int              `json:"schema_version"`
	Socket        string           `json:"socket"`
	Server        clients.Identity `json:"server"`
	Version       string           `json:"version"` // of the server, not of the binary
	Since         time.Time        `json:"since"`   // when it was first seen
}

// ReadRecord returns what is recorded of the server; the zero Record if nothing
// is. A record that cannot be read is an error of class Unknown.
func (s *Server) ReadRecord() (Record, error) {
	var r Record
	err := atomicfile.ReadJSON(s.Record, recordVersion, &r)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Record{}, nil
	case err != nil:
		return Record{}, session.Errorf(session.Unknown, "cannot tell which tmux server is berth's: %w", err)
	}
	return r, nil
}

// remember writes the server's identity down if it is not what the record says.
func (s *Server) remember(server clients.Identity, version string) error {
	r, err := s.ReadRecord()
	if err != nil || r.Server == server && r.Socket == s.Socket {
		return err
	}
	return atomicfile.WriteJSON("tmux-record", s.Record, Record{
		SchemaVersion: recordVersion,
		Socket:        s.Socket,
		Server:        server,
		Version:       version,
		Since:         time.Now().UTC().Truncate(time.Second),
	})
}
