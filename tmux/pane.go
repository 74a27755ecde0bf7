package tmux

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"berth/internal/session"

	"golang.org/x/sys/unix"
)

// Options that say whose a session and a pane are. The pane carries the id too:
// people move panes, group and rename sessions.
const (
	sessionOption = "@berth_session"
	hostOption    = "@berth_host"
)

// Pane is berth's pane of one session: the one its host was started in. Panes that
// people split beside it are not listed.
type Pane struct {
	ID          string // %3; never used again in the life of its server
	SessionName string // as tmux prints it; a person may have changed it
	SessionID   string // $1
	WindowID    string // @2
	Berth       string // berth's id of the session
	Dead        bool   // the program let go of the pane; its last screen is kept. It may take a moment more to end, and to be gone if it ends with 0
	ExitStatus  int    // of a dead pane; NoStatus if it was ended by a signal, or has not ended yet
	Signal      string // that ended it: number or name, as the system's tmux prints it; "" if none did, or before tmux 3.3
	PID         int    // the program, also once it is dead
	Width       int    // columns
	Height      int    // rows
	ServerPID   int    // the tmux server that said so
}

// NoStatus is the exit status of a pane that has none.
const NoStatus = -1

var paneFields = []string{
	"#{pane_id}", "#{session_id}", "#{window_id}", "#{session_name}", "#{" + sessionOption + "}", "#{" + hostOption + "}",
	"#{pane_dead}", "#{pane_dead_status}", "#{pane_dead_signal}", "#{pane_pid}", "#{pane_width}", "#{pane_height}", "#{pid}",
}

// rowsIf is a format that prints a pane's row if cond holds, else a blank line.
func rowsIf(cond string) string {
	return "#{?" + cond + "," + strings.Join(paneFields, "\t") + ",}"
}

const ours = "#{" + hostOption + "}"

// isSession and isHost are conditions; ids hold no character that formats use.
func isSession(id string) string { return "#{==:#{" + sessionOption + "}," + id + "}" }
func isHost(id string) string    { return "#{==:#{" + hostOption + "}," + id + "}" }

// row is a pane as one session lists it. A pane of grouped sessions is listed once
// for each of them; own tells the session that berth made.
type row struct {
	Pane
	own bool
}

func parseRow(line string) (row, error) {
	f := strings.Split(line, "\t")
	if len(f) != len(paneFields) {
		return row{}, fmt.Errorf("cannot read tmux pane %q: %d fields, want %d", line, len(f), len(paneFields))
	}
	r := row{
		Pane: Pane{ID: f[0], SessionID: f[1], WindowID: f[2], SessionName: f[3], Berth: f[5], Dead: f[6] == "1", Signal: f[8]},
		own:  f[4] == f[5],
	}
	if !hasID(f[0], '%') || !hasID(f[1], '$') || !hasID(f[2], '@') || !validID(f[5]) || f[6] != "0" && f[6] != "1" && f[6] != "" {
		return row{}, fmt.Errorf("cannot read tmux pane %q", line)
	}
	for _, n := range []struct {
		text string
		to   *int
	}{{f[9], &r.PID}, {f[10], &r.Width}, {f[11], &r.Height}, {f[12], &r.ServerPID}, {f[7], &r.ExitStatus}} {
		if n.text == "" && n.to == &r.ExitStatus {
			r.ExitStatus = NoStatus
			continue
		}
		v, err := strconv.ParseUint(n.text, 10, 31)
		if err != nil {
			return row{}, fmt.Errorf("cannot read tmux pane %q: %q is no number", line, n.text)
		}
		*n.to = int(v)
	}
	return r, nil
}

// hasID reports whether s is an id of tmux: a mark and digits.
func hasID(s string, mark byte) bool {
	if len(s) < 2 || s[0] != mark {
		return false
	}
	_, err := strconv.ParseUint(s[1:], 10, 32)
	return err == nil
}

// parsePanes reads rows and merges those of one pane.
func parsePanes(out []byte) ([]Pane, error) {
	var panes []Pane
	at := map[string]int{}
	for _, l := range lines(out) {
		r, err := parseRow(l)
		if err != nil {
			return nil, err
		}
		i, seen := at[r.ID]
		switch {
		case !seen:
			at[r.ID] = len(panes)
			panes = append(panes, r.Pane)
		case r.own:
			panes[i] = r.Pane
		}
	}
	return panes, nil
}

// Panes returns the panes of all of berth's sessions in this server, in the order
// of tmux. No server at all is ErrNoServer.
func (s *Server) Panes(ctx context.Context) ([]Pane, error) { return s.panes(ctx, ours) }

func (s *Server) panes(ctx context.Context, cond string) ([]Pane, error) {
	panes, err := s.list(ctx, cond)
	if err != nil || !slices.ContainsFunc(panes, unreaped) {
		return panes, err
	}
	if !s.reap() {
		return panes, nil
	}
	return s.list(ctx, cond)
}

func (s *Server) list(ctx context.Context, cond string) ([]Pane, error) {
	out, err := s.query(ctx, "list-panes", "-a", "-F", rowsIf(cond))
	if errors.Is(err, ErrNoSession) {
		return nil, nil // a server without any session
	}
	if err != nil {
		return nil, err
	}
	return parsePanes(out)
}

// unreaped reports whether the server has not noticed yet how p's program ended.
func unreaped(p Pane) bool { return p.Dead && p.ExitStatus == NoStatus && p.Signal == "" }

// reap makes the server look for ended children, and reports whether it could.
//
// As a pane's terminal closes, libutempter runs a helper with SIGCHLD at its
// default; a program that ends meanwhile, and most do, is not noticed until another
// child ends: on a busy machine one pane in ten stayed "dead, status unknown", and
// one that ended with 0 stayed at all. SIGCHLD again mends it and does nothing else.
func (s *Server) reap() bool {
	r, err := s.ReadRecord()
	return err == nil && !r.Server.IsZero() && signalProcess(r.Server, unix.SIGCHLD) == nil
}

// Find returns the pane of the session with berth's id, whatever its tmux session
// is called now. ErrNoSession: the server runs and has none. ErrNoServer: no server
// runs. Anything else: it could not be told.
func (s *Server) Find(ctx context.Context, id string) (Pane, error) {
	if !validID(id) {
		return Pane{}, badID(id)
	}
	panes, err := s.panes(ctx, isHost(id))
	if err != nil {
		return Pane{}, err
	}
	if len(panes) == 0 {
		return Pane{}, session.Errorf(session.NotFound, "%w for %s", ErrNoSession, id)
	}
	return panes[0], nil
}
