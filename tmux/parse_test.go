package tmux

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"berth/internal/session"
)

func TestNameIsSafe(t *testing.T) {
	for _, id := range []string{session.NewID(), "a", "task:inv:flow:node:1", "-", "a.b"} {
		if n := Name(id); !validName(n) || len(n) != len("berth-")+nameIDLen {
			t.Errorf("%q is called %q", id, n)
		}
	}
	if a, b := Name("task:invocation:1"), Name("task:invocation:2"); a == b {
		t.Errorf("two reviews are called %q", a)
	}
	if got := Name("0123456789abcdef"); got != "berth-0123456789ab" {
		t.Error(got)
	}
}

func TestVersions(t *testing.T) {
	for text, want := range map[string]string{
		"tmux 3.3a\n": "yes", "tmux 3.2": "yes", "tmux 3.2-rc": "yes", "tmux next-3.6": "yes", "tmux 4.0": "yes", "tmux openbsd-7.4": "yes", "tmux master": "yes",
		"tmux 3.1c": "no", "tmux 2.9a": "no", "tmux 1.8": "no",
		"": "error", "screen 4": "error", "tmux": "error", "tmux 3": "error",
	} {
		v, err := ParseVersion(text)
		got := "no"
		if err != nil {
			got = "error"
		} else if v.Supported() {
			got = "yes"
		}
		if got != want {
			t.Errorf("%q: %s (%+v, %v), want %s", text, got, v, err, want)
		}
	}
}

func TestErrorsByText(t *testing.T) {
	s := New(Options{Bin: "tmux", Socket: "/s"})
	for text, want := range map[string]struct {
		kind  error
		class session.Class
	}{
		"no server running on /s\n":                               {ErrNoServer, session.NotFound},
		"error connecting to /s (No such file or directory)":      {ErrNoServer, session.NotFound},
		"/u.conf: No such file or directory":                      {nil, session.Failed},
		"server exited unexpectedly":                              {ErrNoServer, session.NotFound},
		"error connecting to /s (Permission denied)":              {nil, session.Failed},
		"error creating /x/s (No such file or directory)":         {nil, session.Failed},
		"can't find pane: %9":                                     {ErrNoSession, session.NotFound},
		"no current target":                                       {ErrNoSession, session.NotFound},
		"duplicate session: a":                                    {ErrDuplicate, session.Refused},
		"command too long":                                        {ErrTooLong, session.Failed},
		"protocol version mismatch (client 8, server 7)":          {ErrProtocol, session.Unknown},
		"create session failed: whatever else tmux may say to us": {nil, session.Failed},
	} {
		err := s.failed(&ExitError{Verb: "new-session", Stderr: text, Status: 1})
		var exit *ExitError
		if want.kind != nil && !errors.Is(err, want.kind) || want.kind == nil && !errors.As(err, &exit) || session.ClassOf(err) != want.class {
			t.Errorf("%q: %v (class %d)", text, err, session.ClassOf(err))
		}
	}
}

const goodRow = "%3\t$1\t@2\tberth-x\tx\tx\t1\t7\t\t123\t80\t24\t99"

func FuzzParsePanes(f *testing.F) {
	f.Add(goodRow + "\n\n" + strings.Replace(goodRow, "\tx\tx", "\t\tx", 1) + "\n")
	f.Add("%3\t$1\t@2\tn\tx\tx\t1\t\t9\t123\t80\t24\t99\n")
	f.Add("%\t$\t@\t\t\t\t\t\t\t\t\t\t\n")
	f.Fuzz(func(t *testing.T, out string) {
		panes, err := parsePanes([]byte(out))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "cannot read tmux pane ") || panes != nil {
				t.Errorf("%v, %+v", err, panes)
			}
			return
		}
		seen := map[string]bool{}
		for _, p := range panes {
			if seen[p.ID] || !strings.HasPrefix(p.ID, "%") || p.Berth == "" || p.PID < 0 || p.Width < 0 {
				t.Errorf("from %q: %+v", out, p)
			}
			seen[p.ID] = true
			if !strings.Contains(out, p.ID+"\t"+p.SessionID+"\t"+p.WindowID+"\t"+p.SessionName+"\t") {
				t.Errorf("from %q: made up %+v", out, p)
			}
		}
	})
}

func FuzzParseGreeting(f *testing.F) {
	f.Add("123\t3.3a\t\n")
	f.Add("123\tnext-3.6\ta\tb\nc\n")
	f.Add("\t\t\n")
	f.Fuzz(func(t *testing.T, out string) {
		if g, err := parseGreeting(out); err == nil && (g.pid <= 0 || g.version == "" || !strings.Contains(out, g.report)) {
			t.Errorf("from %q: %+v", out, g)
		}
	})
}

func FuzzParseWatchers(f *testing.F) {
	f.Add("%1\t@1\tshown\n@1\t0\tattached,focused,UTF-8\t/dev/pts/1\n@1\t1\tattached,read-only\t/dev/pts/2\n@2\t0\tattached\t\n")
	f.Add("\t\t\n")
	f.Fuzz(func(t *testing.T, out string) {
		list := lines([]byte(out))
		if ttys, err := parseWatchers("%1", list); err == nil && len(ttys) >= len(list) {
			t.Errorf("from %q: %q", out, ttys)
		}
	})
}

func FuzzParseVersion(f *testing.F) {
	f.Add("tmux 3.3a\n")
	f.Add("tmux next-3.6")
	f.Add("tmux openbsd-7.4")
	f.Fuzz(func(t *testing.T, s string) {
		if v, err := ParseVersion(s); err == nil && (v.Text == "" || !strings.Contains(s, v.Text) || v.Major < 0 || v.Minor < 0) {
			t.Errorf("from %q: %+v", s, v)
		}
	})
}

func TestGroupedPaneIsItsOwnSessions(t *testing.T) {
	group := strings.Replace(strings.Replace(goodRow, "\tx\tx", "\t\tx", 1), "$1\t@2\tberth-x", "$5\t@2\tgroup", 1)
	for _, out := range []string{group + "\n" + goodRow + "\n", goodRow + "\n" + group + "\n"} {
		panes, err := parsePanes([]byte(out))
		if err != nil || len(panes) != 1 || panes[0].SessionName != "berth-x" || panes[0].ExitStatus != 7 || !panes[0].Dead {
			t.Errorf("%+v, %v", panes, err)
		}
	}
}

func TestParseWatchersByPane(t *testing.T) {
	for name, row := range map[string]struct {
		lines []string
		want  map[string]int // nil: an error
	}{
		"nobody":              {[]string{"pane\t%1\t@1\tshown"}, map[string]int{"%1": 0}},
		"one, in its window":  {[]string{"pane\t%1\t@1\tshown", "pane\t%2\t@2\tshown", "client\t@2\t0\tattached"}, map[string]int{"%1": 0, "%2": 1}},
		"readers, suspended":  {[]string{"pane\t%1\t@1\tshown", "client\t@1\t1\tattached", "client\t@1\t0\tattached,suspended"}, map[string]int{"%1": 0}},
		"another pane zoomed": {[]string{"pane\t%1\t@1\thidden", "client\t@1\t0\tattached"}, map[string]int{"%1": 0}},
		"grouped sessions":    {[]string{"pane\t%1\t@1\tshown", "pane\t%1\t@1\tshown", "client\t@1\t0\tattached"}, map[string]int{"%1": 1}},
		"a cut client":        {[]string{"client\t@1\t0"}, nil},
		"no pane":             {[]string{"pane\t1\t@1\tshown"}, nil},
		"something else":      {[]string{"pain\t%1\t@1\tshown"}, nil},
	} {
		got, err := parseWatchersByPane(row.lines)
		if (err != nil) != (row.want == nil) || err == nil && !maps.Equal(got, row.want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, row.want)
		}
	}
}
