package tmux

import (
	"context"
	"fmt"
	"os"
	"strings"

	"berth/internal/session"
)

// AttachArgv is the command that shows the tmux session name in a terminal; it
// never starts a server. It must be run without TMUX in its environment only where
// the terminal itself is a pane of this server: there, SwitchClient is right.
func (s *Server) AttachArgv(name string, readOnly bool) []string {
	bin, err := s.bin()
	if err != nil {
		bin = "tmux"
	}
	argv := []string{bin, "-u", "-N", "-S", s.Socket, "attach-session", "-t", "=" + name}
	if readOnly {
		argv = append(argv, "-r")
	}
	return argv
}

// AttachLine is AttachArgv as a line for a shell.
func (s *Server) AttachLine(name string, readOnly bool) string {
	return shellLine(s.AttachArgv(name, readOnly))
}

// InsideThisServer reports whether tmuxEnv, the value of TMUX in some process's
// environment, names this server: the same path, also where the socket was cleaned
// away, or the same socket file.
func (s *Server) InsideThisServer(tmuxEnv string) bool {
	socket := tmuxEnv
	for range 2 { // "socket,pid,session"; a path may hold commas
		i := strings.LastIndexByte(socket, ',')
		if i < 0 {
			return false
		}
		socket = socket[:i]
	}
	if socket == s.Socket {
		return true
	}
	theirs, err := os.Stat(socket)
	if err != nil {
		return false
	}
	own, err := os.Stat(s.Socket)
	return err == nil && os.SameFile(own, theirs)
}

// SwitchClient shows the tmux session name in the client that looks at the pane
// fromPane (the caller's TMUX_PANE). tmux itself picks the most recent one of
// several. ErrNoSession: there is no such session, or no such client.
func (s *Server) SwitchClient(ctx context.Context, fromPane, name string) error {
	if !hasID(fromPane, '%') || !validName(name) {
		return fmt.Errorf("cannot switch from pane %q to session %q", fromPane, name)
	}
	_, err := s.queryEnv(ctx, []string{"TMUX_PANE=" + fromPane}, "switch-client", "-t", "="+name+":")
	return err
}

// Watchers are the terminals of those who look at the pane: attached clients that may
// type and whose current window shows it. Read-only and suspended clients do not
// count. ErrNoSession: there is no such pane.
func (s *Server) Watchers(ctx context.Context, paneID string) (ttys []string, err error) {
	if !hasID(paneID, '%') {
		return nil, fmt.Errorf("cannot look for watchers of %q: not a pane", paneID)
	}
	out, err := s.query(ctx,
		"display-message", "-p", "-t", paneID, "#{pane_id}\t#{window_id}\t"+paneShown, ";",
		"list-clients", "-F", clientFields+"\t#{client_tty}")
	if err != nil {
		return nil, err
	}
	return parseWatchers(paneID, lines(out))
}

func parseWatchers(paneID string, list []string) (ttys []string, err error) {
	if len(list) == 0 || !strings.HasPrefix(list[0], paneID+"\t") {
		// display-message never fails: a missing pane is blanks.
		return nil, session.Errorf(session.NotFound, "%w: pane %s", ErrNoSession, paneID)
	}
	pane := strings.Split(list[0], "\t")
	if len(pane) != 3 || !hasID(pane[1], '@') {
		return nil, fmt.Errorf("cannot read tmux pane %q", list[0])
	}
	for _, l := range list[1:] {
		f := strings.Split(l, "\t")
		if len(f) != 4 {
			return nil, fmt.Errorf("cannot read tmux client %q", l)
		}
		if pane[2] == "shown" && looksAt(f) == pane[1] {
			ttys = append(ttys, f[3])
		}
	}
	return ttys, nil
}
