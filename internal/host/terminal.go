package host

import (
	"fmt"
	"os"
	"time"

	"berth/internal/protocol"
	"berth/internal/screen"
	"berth/manifest"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// raw makes the terminal raw and returns what gives it back as it was.
func (j *joining) raw() (restore func(), err error) {
	old, err := term.MakeRaw(int(j.In.Fd()))
	if err != nil {
		return nil, fmt.Errorf("cannot make the terminal raw: %w", err)
	}
	return func() {
		term.Restore(int(j.In.Fd()), old) //nolint:errcheck // the terminal may be gone
	}, nil
}

// drain throws away what the terminal still sends because of us: an answer it owes,
// reports of modes that were just reset. The person's shell would take them for
// typing.
func (j *joining) drain(kb *keyboard) {
	j.in.NoDetach = true // it is a key like any other now
	owed := func(p []byte) bool {
		for _, reply := range j.in.Feed(p).Replies {
			if screen.NeedsScreen(screen.Query{Kind: reply.Kind}) {
				j.asked--
			}
		}
		return j.asked > 0
	}
	if wait := time.Until(j.since.Add(replyWait)); owed(j.after) && wait > 0 {
		kb.drain(wait, owed)
	}
	if m := j.out.Modes(); m.Mouse != 0 || m.Focus || m.ColorScheme || m.InBandResize {
		kb.drain(calmWait, func([]byte) bool { return true })
	}
}

// giveBack resets the terminal's modes and leaves its cursor at the beginning of a
// line with nothing below, so that what is said next can be read. A failed client's
// last screen stays in a tmux pane, which is kept for it.
func (j *joining) giveBack(r Result) {
	modes := j.out.Modes()
	if j.Kind == manifest.HostTmux && r.Why == Over && r.Ending.Code != 0 {
		modes.AltScreen = 0
	}
	j.Out.Write(modes.Reset())
	if j.Kind != manifest.HostTerminal || modes.AltScreen != 0 { // what was there before it is back
		return
	}
	if j.midLine {
		j.Out.WriteString("\r\n")
	}
	j.Out.WriteString("\x1b[J")
}

func sizeOf(f *os.File) (protocol.Size, error) {
	ws, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return protocol.Size{}, err
	}
	s := protocol.Size{Cols: int(ws.Col), Rows: int(ws.Row), XPixel: int(ws.Xpixel), YPixel: int(ws.Ypixel)}
	if s.Cols == 0 || s.Rows == 0 { // a terminal that nobody gave a size, as of expect or a serial line
		s.Cols, s.Rows = 80, 24
	}
	return s, nil
}
