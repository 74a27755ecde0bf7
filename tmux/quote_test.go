package tmux

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// oddWords is what arguments may hold and parsers trip over.
var oddWords = []string{"", "a b", "it's", `"q"`, "two\nlines\n", "tail;", ";", ";;", `back\`, `back\;`, "#{pid}", "##", "#(touch /tmp/no)", "$HOME", "`id`",
	"~", "-lead", "--", "{", "}", "%if", "é€😀", "\xff\xfe", "a\xff;", "\t", "%H", "%%", "%1", "#c", strings.Repeat("x", 4000)}

// The oracle is tmux's own parser.
func TestConfWordIsOneWordForTmux(t *testing.T) {
	s := newServer(t)
	mustNew(t, s, spec("x"))
	for _, w := range oddWords {
		out, err := s.query(ctx, "if-shell", "-F", "1", "set-option -g @x "+confWord(w)+" ; display-message -p done")
		if err != nil || string(out) != "done\n" {
			t.Errorf("%q: %q, %v", w, out, err)
		}
		if got, err := s.query(ctx, "show-options", "-gv", "@x"); err != nil || string(got) != w+"\n" {
			t.Errorf("set %q, got %q, %v", w, got, err)
		}
	}
}

// The oracle is sh.
func TestShellLineIsArgvForSh(t *testing.T) {
	argv := append([]string{"printf", `%s\0`}, oddWords...)
	out, err := exec.Command("sh", "-c", shellLine(argv)).Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Join(oddWords, "\x00") + "\x00"; string(out) != want {
		t.Errorf("got %q\nwant %q", out, want)
	}
	if got := shellLine([]string{"/usr/bin/tmux", "-S", "/a b/s", "-t", "=berth-1"}); got != "/usr/bin/tmux -S '/a b/s' -t '=berth-1'" {
		t.Error(got)
	}
}

func TestUnglob(t *testing.T) {
	s := newServer(t)
	dir := filepath.Join(filepath.Dir(s.Socket), `odd [a] *?'$HOME;\ #{pid}`)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.UserConf = filepath.Join(dir, "tmux.conf")
	if err := os.WriteFile(s.UserConf, []byte("set -g @mine yes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mustNew(t, s, spec("x"))
	if got := raw(t, s, "show-options", "-gqv", "@mine"); got != "yes" {
		t.Errorf("not read: %q; %q", got, s.Status(ctx).UserConf)
	}
}
