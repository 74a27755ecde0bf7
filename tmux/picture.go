package tmux

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Picture is what a pane shows: its rows with their attributes as escape sequences,
// which hold from one row to the next, and their blanks, and the cursor, from 0.
type Picture struct {
	Rows          [][]byte
	X, Y          int
	Width, Height int
}

// Picture returns what the pane shows now, in one call. ErrNoSession: it is gone.
func (s *Server) Picture(ctx context.Context, paneID string) (Picture, error) {
	if !hasID(paneID, '%') {
		return Picture{}, fmt.Errorf("cannot draw %q: not a pane", paneID)
	}
	// The place of the cursor comes first: a row may hold any text.
	out, err := s.query(ctx, "display-message", "-p", "-t", paneID, "#{cursor_x} #{cursor_y} #{pane_width} #{pane_height}",
		";", "capture-pane", "-p", "-e", "-N", "-t", paneID)
	if err != nil {
		return Picture{}, err
	}
	return parsePicture(out)
}

func parsePicture(out []byte) (Picture, error) {
	head, body, ok := bytes.Cut(out, []byte("\n"))
	fields := strings.Fields(string(head))
	if !ok || len(fields) != 4 {
		return Picture{}, fmt.Errorf("tmux describes a pane as %q", head)
	}
	var n [4]int
	for i, f := range fields {
		v, err := strconv.Atoi(f)
		if err != nil || v < 0 {
			return Picture{}, fmt.Errorf("tmux describes a pane as %q", head)
		}
		n[i] = v
	}
	p := Picture{X: n[0], Y: n[1], Width: n[2], Height: n[3]}
	for row := range bytes.Lines(body) {
		p.Rows = append(p.Rows, bytes.TrimSuffix(row, []byte("\n")))
	}
	return p, nil
}
