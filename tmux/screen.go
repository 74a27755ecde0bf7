package tmux

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// CaptureOptions say what of a pane's screen is wanted. The zero value is the
// visible screen as plain text.
type CaptureOptions struct {
	ANSI         bool // with colours and attributes as escape sequences
	HistoryLines int  // so many lines above the screen too; negative: all there are
	Join         bool // wrapped lines joined; trailing blanks stay
}

// Capture returns the text of a pane, also of a dead one. ErrNoSession: it is gone.
// On a busy machine the last words of a dead pane may be missing: tmux closes the
// terminal of a program it saw end, without reading what is left in it (1 of some
// 80 on 3.3a). What must be kept is kept by whoever holds the program.
func (s *Server) Capture(ctx context.Context, p Pane, o CaptureOptions) ([]byte, error) {
	if !hasID(p.ID, '%') {
		return nil, fmt.Errorf("cannot capture %q: not a pane", p.ID)
	}
	cmd := []string{"capture-pane", "-p", "-t", p.ID}
	if o.ANSI {
		cmd = append(cmd, "-e")
	}
	if o.Join {
		cmd = append(cmd, "-J")
	}
	switch {
	case o.HistoryLines < 0:
		cmd = append(cmd, "-S", "-")
	case o.HistoryLines > 0:
		cmd = append(cmd, "-S", strconv.Itoa(-o.HistoryLines))
	}
	return s.query(ctx, cmd...)
}

// ResizeWindow gives the pane's window that size, columns by rows, and pins it:
// clients that come and go do not change it until UnpinWindow.
func (s *Server) ResizeWindow(ctx context.Context, paneID string, width, height int) error {
	if !hasID(paneID, '%') || width < 1 || height < 1 {
		return fmt.Errorf("cannot resize the window of %q to %dx%d", paneID, width, height)
	}
	_, err := s.query(ctx, "resize-window", "-t", paneID, "-x", strconv.Itoa(width), "-y", strconv.Itoa(height))
	return err
}

// UnpinWindow lets the pane's window follow its clients again, at once.
func (s *Server) UnpinWindow(ctx context.Context, paneID string) error {
	if !hasID(paneID, '%') {
		return fmt.Errorf("cannot unpin the window of %q: not a pane", paneID)
	}
	_, err := s.query(ctx, "set-option", "-w", "-u", "-t", paneID, "window-size")
	return err
}

// SetNotice shows text, and nothing else, in the status line of the pane's session,
// which takes a row of the clients' terminals and none of a pinned window. "" brings
// back what was there before.
func (s *Server) SetNotice(ctx context.Context, paneID, text string) error {
	if !hasID(paneID, '%') {
		return fmt.Errorf("cannot set the notice of %q: not a pane", paneID)
	}
	status, line := []string{"set-option", "-t", paneID, "status", "on"}, []string{"set-option", "-t", paneID, "status-format[0]", word(literal(strings.ReplaceAll(text, "%", "%%")))}
	if text == "" {
		status, line = []string{"set-option", "-u", "-t", paneID, "status"}, []string{"set-option", "-u", "-t", paneID, "status-format"}
	}
	_, err := s.query(ctx, slices.Concat(line, []string{";"}, status)...)
	return err
}
