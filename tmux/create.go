package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"berth/internal/session"
)

// maxCommandBytes is the longest command a client sends: tmux refuses above 16384
// with its own header in it. Prompts and environments go through files.
const maxCommandBytes = 16000

// startTries bounds how often a launch meets a server that ends under it.
const startTries = 20

// Spec is a tmux session to make.
type Spec struct {
	Name   string   // Name(ID), or any name tmux keeps as it is
	ID     string   // berth's id of the session
	Cwd    string   // an existing directory
	Argv   []string // the program of the pane; no shell sees it
	Env    []string // K=V for the pane (-e); other users of the machine may read it
	Width  int      // columns; 0 leaves it to tmux
	Height int      // rows; 0 leaves it to tmux
}

// command is the whole of a launch in one client call, so that nothing can come
// between the pane's birth and its marks, and a program that ends at once still
// leaves its last screen: set apart, remain-on-exit lost 2 of 50 such races.
func (sp Spec) command() ([]string, error) {
	switch {
	case !validName(sp.Name):
		return nil, session.Errorf(session.Usage, "%q cannot be the name of a tmux session", sp.Name)
	case !validID(sp.ID):
		return nil, badID(sp.ID)
	case len(sp.Argv) == 0 || sp.Argv[0] == "":
		return nil, errors.New("cannot make a tmux session without a program")
	}
	// tmux runs the program elsewhere, and succeeds, if the directory is missing.
	if st, err := os.Stat(sp.Cwd); err != nil {
		return nil, fmt.Errorf("cannot start in %s: %w", sp.Cwd, err)
	} else if !st.IsDir() {
		return nil, fmt.Errorf("cannot start in %s: not a directory", sp.Cwd)
	}

	cmd := []string{"new-session", "-d", "-s", sp.Name, "-c", word(literal(sp.Cwd))}
	if sp.Width > 0 && sp.Height > 0 {
		cmd = append(cmd, "-x", strconv.Itoa(sp.Width), "-y", strconv.Itoa(sp.Height))
	}
	for _, kv := range sp.Env {
		cmd = append(cmd, "-e", word(kv))
	}
	cmd = append(append(cmd, "--"), program(sp.Argv)...)

	at := "=" + sp.Name + ":"
	cmd = append(cmd, ";", "set-option", "-t", at, sessionOption, sp.ID)
	cmd = append(cmd, ";", "set-option", "-p", "-t", at, hostOption, sp.ID)
	// Status 0 of new-session proves nothing; the row does.
	cmd = append(cmd, ";", "list-panes", "-t", at, "-F", rowsIf(ours))
	return cmd, fits(cmd)
}

// program makes argv two words or more: tmux gives a single one to a shell.
func program(argv []string) []string {
	if len(argv) == 1 {
		argv = []string{"/usr/bin/env", "--", argv[0]}
	}
	return words(argv)
}

func fits(cmd []string) error {
	n := 0
	for _, a := range cmd {
		n += len(a) + 1
	}
	if n > maxCommandBytes {
		return session.Errorf(session.Failed, "%w: %d bytes, and %d can be sent", ErrTooLong, n, maxCommandBytes)
	}
	return nil
}

// NewSession makes the tmux session of sp and returns its pane, starting the
// server if none runs. The pane may be dead already: its program ended, or could
// not be run. ErrNoSession: it is gone again (it ended with 0). ErrDuplicate: the
// name is taken; Find tells whether by the same id. ErrTimeout: it may yet come
// into being.
func (s *Server) NewSession(ctx context.Context, sp Spec) (Pane, error) {
	cmd, err := sp.command()
	if err != nil {
		return Pane{}, err
	}
	read := false // the person's own file, which may end the server that reads it
	for range startTries {
		started, err := s.ensure(ctx)
		switch {
		case err != nil:
			return Pane{}, err
		case started && read:
			err = s.skipUserConf(ctx, s.UserConf+": not read: the server before this one ended as it read it")
		case started:
			read, err = true, s.readUserConf(ctx)
		}
		if err != nil {
			return Pane{}, err
		}
		// query starts no server: one that ended since is ensure's to replace.
		out, err := s.query(ctx, cmd...)
		switch {
		case err == nil:
			return s.created(ctx, sp, out)
		case !errors.Is(err, ErrNoServer):
			return Pane{}, err
		}
		if err := pause(ctx); err != nil {
			return Pane{}, err
		}
	}
	return Pane{}, s.unstable()
}

func (s *Server) created(ctx context.Context, sp Spec, out []byte) (Pane, error) {
	panes, err := parsePanes(out)
	if err != nil {
		return Pane{}, err
	}
	if len(panes) != 1 {
		return Pane{}, session.Errorf(session.Failed, "cannot make tmux session %s: tmux lists %d panes of it", sp.Name, len(panes))
	}
	return panes[0], s.confirm(ctx, panes[0])
}

// Respawn runs argv in a dead pane of ours, which keeps its id and marks.
// ErrNotDead: it lives, is gone, or is not that session's.
func (s *Server) Respawn(ctx context.Context, p Pane, argv []string) error {
	switch {
	case !hasID(p.ID, '%') || !validID(p.Berth):
		return fmt.Errorf("cannot respawn pane %q of %q: not a pane", p.ID, p.Berth)
	case len(argv) == 0 || argv[0] == "":
		return errors.New("cannot respawn a pane without a program")
	}
	if len(argv) == 1 {
		argv = []string{"/usr/bin/env", "--", argv[0]}
	}
	const done = "respawned"
	cmd := []string{"if-shell", "-F", "-t", p.ID, "#{&&:#{pane_dead}," + isHost(p.Berth) + "}",
		"respawn-pane -t " + p.ID + " -- " + quoteAll(argv, confWord) + " ; display-message -p " + done}
	if err := fits(cmd); err != nil {
		return err
	}
	out, err := s.query(ctx, cmd...)
	switch {
	case err != nil:
		return err
	case strings.TrimSpace(string(out)) != done:
		return session.Errorf(session.Stale, "%w (%s, %s)", ErrNotDead, p.ID, p.Berth)
	}
	return nil
}
