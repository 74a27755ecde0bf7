package tmux

import (
	"context"
	"errors"
	"os"
	"strings"
)

// maxReportBytes of what tmux said about the person's file are kept.
const maxReportBytes = 4 << 10

// readUserConf has a new server read the person's own file. It is not part of -f:
// there, one bad line opens the first pane in view mode, where keys are swallowed,
// and one `run-shell 'sleep 60'` holds up every launch. Here its errors come back
// as text, which the server keeps for Status, and no launch fails for them.
//
// Our own file is read again right after, in the same step: it takes back what
// would break launches (destroy-unattached, exit-unattached, window-size manual).
// The option set first makes one of several starters the reader.
func (s *Server) readUserConf(ctx context.Context) error {
	if s.UserConf == "" {
		return nil
	}
	if _, err := os.Stat(s.UserConf); err != nil {
		return nil // none, or out of reach: doctor looks at the file itself
	}
	bounded, cancel := context.WithTimeout(ctx, userConfTimeout)
	defer cancel()
	_, err := s.query(bounded, "if-shell", "-F", "#{@berth_user_conf}", "", "set-option -g @berth_user_conf 1 ; "+
		"source-file -q "+confWord(unglob(s.UserConf))+" ; source-file "+confWord(unglob(s.Conf)))
	if err == nil || errors.Is(err, ErrNoServer) {
		return nil // if the file ended the server, NewSession meets the next one, and passes it over
	}
	report := err.Error()
	var exit *ExitError
	switch {
	case errors.As(err, &exit): // lines that cannot be parsed are printed, the others are told
		report = strings.TrimSpace(exit.Stdout + exit.Stderr)
	case errors.Is(err, ErrTimeout):
		report = s.UserConf + ": not read to its end within " + userConfTimeout.String()
	}
	return s.skipUserConf(ctx, report)
}

// skipUserConf puts what launches lean on back in place and has the server keep
// report.
func (s *Server) skipUserConf(ctx context.Context, report string) error {
	if len(report) > maxReportBytes {
		report = report[:maxReportBytes]
	}
	_, err := s.query(ctx, "source-file", unglob(s.Conf), ";",
		"set-option", "-g", "@berth_user_conf_report", word(report))
	if errors.Is(err, ErrNoServer) {
		return nil
	}
	return err
}
