//go:build linux

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"berth/tmux"
)

// scratch is a tmux server of the test's own: each of its panes is a terminal of a
// person, with an emulator that can say what it shows cell by cell.
type scratch struct {
	w   *world
	srv *tmux.Server
}

func (w *world) newScratch() *scratch {
	w.t.Helper()
	dir := filepath.Join(filepath.Dir(w.home), "scratch")
	if err := os.Mkdir(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	conf := filepath.Join(dir, "conf")
	if err := os.WriteFile(conf, []byte("set -g status off\nset -s escape-time 0\nset -s exit-empty off\n"), 0o600); err != nil {
		w.t.Fatal(err)
	}
	s := &scratch{w, tmux.New(tmux.Options{Socket: filepath.Join(dir, "tmux"), Env: w.env})}
	s.say("-f", conf, "start-server")
	pid, err := strconv.Atoi(s.say("display-message", "-p", "#{pid}"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { w.killed(pid) })
	return s
}

// say is what the server says to a command, which must succeed.
func (s *scratch) say(args ...string) string {
	s.w.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-u", "-S", s.srv.Socket}, args...)...)
	cmd.Env, cmd.Dir = s.w.env, s.w.cwd
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.w.t.Fatalf("tmux %v: %v: %s", args, err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// terminal is one pane.
type terminal struct {
	s    *scratch
	pane string
}

// open starts a command in a terminal of that size.
func (s *scratch) open(cols, rows int, argv ...string) terminal {
	s.w.t.Helper()
	shell := []string{"/bin/sh", "-c", `"$@"; echo "ended with $?."; read -r _`, "sh"}
	return terminal{s, s.say(slices.Concat([]string{"new-session", "-d", "-x", fmt.Sprint(cols), "-y", fmt.Sprint(rows), "-P", "-F", "#{pane_id}"}, shell, argv)...)}
}

// keys types keys, as tmux names them, or text after "-l".
func (x terminal) keys(keys ...string) {
	x.s.w.t.Helper()
	x.s.say(append([]string{"send-keys", "-t", x.pane}, keys...)...)
}

func (x terminal) resize(cols, rows int) {
	x.s.w.t.Helper()
	x.s.say("resize-window", "-t", x.pane, "-x", fmt.Sprint(cols), "-y", fmt.Sprint(rows))
}

// ended waits until the command has ended and returns its status.
func (x terminal) ended() (status string) {
	x.s.w.t.Helper()
	x.s.w.compared("the command ends", func() (bool, string) {
		is := x.shows()
		m := exitStatus.FindStringSubmatch(is)
		if m != nil {
			status = m[1]
		}
		return m != nil, is
	})
	return status
}

// exitStatus is what the shell of a terminal says when its command has ended. tmux's
// own word on that is lost now and then.
var exitStatus = regexp.MustCompile(`ended with (\d+)\.`)

// shown is all that a pane shows: size, modes, cursor and cells with their attributes.
func shown(t *testing.T, srv *tmux.Server, pane string) string {
	t.Helper()
	p, err := srv.Picture(context.Background(), pane)
	if err != nil {
		return err.Error()
	}
	cmd := exec.Command("tmux", "-u", "-N", "-S", srv.Socket, "display-message", "-p", "-t", pane,
		"alternate #{alternate_on} cursor #{cursor_flag} insert #{insert_flag} keypad #{keypad_flag}#{keypad_cursor_flag} "+
			"mouse #{mouse_any_flag}#{mouse_all_flag}#{mouse_button_flag}#{mouse_standard_flag}#{mouse_sgr_flag}#{mouse_utf8_flag} origin #{origin_flag} wrap #{wrap_flag} title #{pane_title}")
	cmd.Env = srv.Env
	modes, err := cmd.Output()
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%dx%d cursor %d,%d %s", p.Width, p.Height, p.X, p.Y, modes)
	for _, row := range p.Rows {
		fmt.Fprintf(&b, "%q\n", plainEnd(row))
	}
	return b.String()
}

// plainEnd is row without the plain blanks at its end: tmux keeps those that were
// written and not those that never were, and nobody sees the difference.
func plainEnd(row []byte) []byte {
	last := row[bytes.LastIndexByte(row, '\x1b')+1:]
	if bytes.HasPrefix(last, []byte("[")) && !bytes.HasPrefix(last, []byte("[0m")) && !bytes.HasPrefix(last, []byte("[m")) {
		if i := bytes.IndexByte(last, 'm'); i < 0 || string(last[:i]) != "[39m" && string(last[:i]) != "[49m" {
			return row
		}
	}
	return bytes.TrimRight(row, " ")
}

func (x terminal) shows() string { x.s.w.t.Helper(); return shown(x.s.w.t, x.s.srv, x.pane) }

// waitFor waits until the terminal shows text.
func (x terminal) waitFor(text string) {
	x.s.w.t.Helper()
	x.s.w.compared("the terminal shows "+text, func() (bool, string) {
		is := x.shows()
		return strings.Contains(attributes.ReplaceAllString(is, ""), text), is
	})
}

// attributes are the sequences in what is shown.
var attributes = regexp.MustCompile(`\\x1b\[[0-9;:]*m`)

// compared is eventually with what was compared last, for the failure.
func (w *world) compared(what string, cond func() (ok bool, seen string)) {
	w.t.Helper()
	last := ""
	defer func() {
		if w.t.Failed() {
			w.t.Log(last)
		}
	}()
	w.eventually(what, func() (ok bool) { ok, last = cond(); return ok })
}
