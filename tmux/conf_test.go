package tmux

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWriteConfOnlyWhenChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tmux.conf")
	if err := WriteConf(path, ConfOptions{}); err != nil {
		t.Fatal(err)
	}
	before, _ := os.Stat(path)
	if err := WriteConf(path, ConfOptions{}); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.Stat(path); !os.SameFile(before, after) {
		t.Error("written again in the same words")
	}
	if err := WriteConf(path, ConfOptions{WatchCommand: []string{"true"}}); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.Stat(path); os.SameFile(before, after) {
		t.Error("not written though it changed")
	}
}

// Every line must be one that tmux takes: an error would open panes in view mode.
func TestConfIsAccepted(t *testing.T) {
	s := newServer(t)
	if err := WriteConf(s.Conf, ConfOptions{WatchCommand: []string{"true"}}); err != nil {
		t.Fatal(err)
	}
	p := mustNew(t, s, spec("x"))
	if out := raw(t, s, "source-file", s.Conf); out != "" {
		t.Errorf("tmux says %q", out)
	}
	raw(t, s, "set-option", "-gu", "@berth_conf")
	if out := raw(t, s, "source-file", s.Conf); out != "" {
		t.Errorf("tmux says %q", out)
	}
	if got := raw(t, s, "display-message", "-p", "-t", p.ID, "#{pane_in_mode} #{history_limit}"); got != "0 5000" {
		t.Errorf("pane is %q", got)
	}
}

// FAULTS 32.
func TestUserConf(t *testing.T) {
	for name, tc := range map[string]struct {
		conf   string
		report string // part of what doctor is told; "" means nothing
		option string // of the person, that must have come through
	}{
		"good":               {conf: "set -g status on\n", option: "status on"},
		"unknown command":    {conf: "set -g @mine 1\nfoo bar\n", report: "unknown command: foo"},
		"unknown option":     {conf: "set -g nosuch 1\nset -g @mine 1\n", report: "nosuch", option: "@mine 1"},
		"syntax":             {conf: "if { {\n", report: "syntax error"},
		"destroy-unattached": {conf: "set -g destroy-unattached on\nset -g @mine 1\n", option: "@mine 1"},
		"exit-unattached":    {conf: "set -g exit-unattached on\nset -g exit-empty on\n"},
		"window-size":        {conf: "set -g window-size manual\n"},
		"default-command":    {conf: "set -g default-command false\nset -g default-shell /bin/false\n", option: "default-command false"},
		"remain-on-exit":     {conf: "set -g remain-on-exit off\n"},
		"hook":               {conf: "set-hook -g session-created 'kill-session'\nset-hook -g after-new-session kill-session\n"},
		"several":            {conf: "set -g nosuch 1\nset -g destroy-unattached on\nset -g window-size manual\nset -g nosuch2 1\n", report: "nosuch"},
		"kill-server":        {conf: "kill-server\n", report: "ended as it read it"},
		"slow":               {conf: "set -g window-size manual\nrun-shell 'sleep 1000'\nset -g destroy-unattached on\n", report: "not read to its end"},
		"missing":            {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			s.UserConf = filepath.Join(filepath.Dir(s.Socket), "user.conf")
			if tc.conf != "" {
				if err := os.WriteFile(s.UserConf, []byte(tc.conf), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			mustNew(t, s, spec("x"))
			mustNew(t, s, spec("y"))
			mustNew(t, s, spec("dies", "/bin/sh", "-c", "exit 3"))
			for _, id := range []string{"x", "y"} {
				p, err := s.Find(ctx, id)
				if err != nil || p.Dead {
					t.Fatalf("%s: %+v, %v", id, p, err)
				}
				if got := raw(t, s, "display-message", "-p", "-t", p.ID, "#{pane_in_mode}"); got != "0" {
					t.Errorf("pane_in_mode %s", got)
				}
			}
			waitFor(t, "the failed one stays", func() bool {
				p, err := s.Find(ctx, "dies")
				return err == nil && p.Dead && p.ExitStatus == 3
			})
			got := s.Status(ctx).UserConf
			if tc.report == "" && got != "" || !strings.Contains(got, tc.report) {
				t.Errorf("report %q, want %q", got, tc.report)
			}
			if o, want, ok := strings.Cut(tc.option, " "); ok {
				if got := raw(t, s, "show-options", "-gqv", o); got != want {
					t.Errorf("%s is %q", o, got)
				}
			}
		})
	}
}

func TestWatchCommandRunsAsGiven(t *testing.T) {
	s := newServer(t)
	dir := filepath.Dir(s.Socket)
	out := filepath.Join(dir, "out")
	argv := append([]string{"sh", "-c", `printf '%s\0' "$@" > "$0.new" && mv "$0.new" "$0"`, out}, oddWords...)
	if err := WriteConf(s.Conf, ConfOptions{WatchCommand: argv}); err != nil {
		t.Fatal(err)
	}
	mustNew(t, s, spec("x"))
	attach(t, s, Name("x"), false)
	want := strings.Join(oddWords, "\x00") + "\x00"
	var got []byte
	waitFor(t, "what the command wrote", func() bool { // whole, by a rename
		var err error
		got, err = os.ReadFile(out)
		return err == nil
	})
	if string(got) != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
