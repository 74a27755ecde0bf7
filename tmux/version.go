package tmux

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"berth/internal/session"
)

// Version is a tmux version. OpenBSD's own tmux counts OpenBSD releases; its
// Major and Minor are 0.
type Version struct {
	Text         string // as tmux prints it: 3.3a, next-3.6, openbsd-7.4
	Major, Minor int
}

var versionText = regexp.MustCompile(`^(?:next-)?(\d{1,6})\.(\d{1,6})[a-z0-9.-]*$`)

// ParseVersion reads what `tmux -V` or #{version} prints.
func ParseVersion(s string) (Version, error) {
	text := strings.TrimPrefix(strings.TrimSpace(s), "tmux ")
	if strings.HasPrefix(text, "openbsd-") || text == "master" {
		return Version{Text: text}, nil
	}
	m := versionText.FindStringSubmatch(text)
	if m == nil {
		return Version{}, fmt.Errorf("cannot read tmux version %q", s)
	}
	v := Version{Text: text}
	v.Major, _ = strconv.Atoi(m[1])
	v.Minor, _ = strconv.Atoi(m[2])
	return v, nil
}

// Supported reports whether berth can use this tmux: 3.2 or newer, or a
// development version.
func (v Version) Supported() bool {
	return v.Major == 0 || v.Major > 3 || v.Major == 3 && v.Minor >= 2
}

// Version asks the binary, not the server, for its version.
func (s *Server) Version(ctx context.Context) (Version, error) {
	bin, err := s.bin()
	if err != nil {
		return Version{}, notInstalled(err)
	}
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "-V")
	cmd.Env = s.Env
	out, _, err := run(cmd)
	if err != nil {
		return Version{}, notInstalled(err)
	}
	return ParseVersion(out)
}

// Supported is nil if the binary is there and new enough; else the error says what
// to install.
func (s *Server) Supported(ctx context.Context) error {
	v, err := s.Version(ctx)
	if err != nil {
		return err
	}
	if !v.Supported() {
		return session.Errorf(session.Failed, "%w: %s, and berth needs 3.2", ErrUnsupported, v.Text).
			WithHint("install tmux 3.2 or newer")
	}
	return nil
}
