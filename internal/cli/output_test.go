package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode"
)

func TestTable(t *testing.T) {
	fill := func() *table {
		tab := newTable("ID", "STATE", "AGE", "TITLE")
		tab.row("7k2m", "active", "3m", "fix the login")
		tab.row("9x1p", "", "2h", "端末の中の端末 and more words than fit")
		tab.row("4c4c", "closed", "5d", "e\u0301te\u0301 \U0001F680 \x1b[2J\x1b]0;owned\a\u009b31m\r\nroot# \u202egnp.exe")
		return tab
	}
	for _, width := range []int{0, 40, 12} {
		var out bytes.Buffer
		if err := fill().print(Streams{Out: &out, Width: width}); err != nil {
			t.Fatal(err)
		}
		golden(t, map[int]string{0: "table.golden", 40: "table-40.golden", 12: "table-12.golden"}[width], out.String())
		for _, line := range strings.Split(out.String(), "\n") {
			if width > 0 && columns(line) > width {
				t.Errorf("wider than %d: %q", width, line)
			}
		}
	}
}

func FuzzVisible(f *testing.F) {
	for _, s := range []string{"plain", "a\x1b[31mb", "\u009b2J", "a\r\nb", "\xff\xfe", "\u202e\u2066x", "👩\u200d🚀", "  a  "} {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, s string, width int) {
		v := visible(s)
		if strings.ContainsFunc(v, unicode.IsControl) || strings.TrimSpace(v) != v || strings.Contains(v, "  ") {
			t.Errorf("%q became %q", s, v)
		}
		if visible(v) != v {
			t.Errorf("%q is not settled", v)
		}
		if width = width&63 + 1; columns(clip(v, width)) > width {
			t.Errorf("clip(%q, %d) is %q", v, width, clip(v, width))
		}
	})
}

func TestColumns(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "abc": 3, "é": 1, "e\u0301": 1, "端末": 4, "한글": 4, "ｆｕ": 4, "🚀": 2, "…": 1, "─": 1, "✅": 2, "a\u200db": 2,
	} {
		if got := columns(s); got != want {
			t.Errorf("columns(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestAgo(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	for want, before := range map[string]time.Duration{
		"0s": -time.Hour, "59s": 59*time.Second + 999*time.Millisecond, "1m": time.Minute, "59m": time.Hour - 1,
		"1h": time.Hour, "23h": 24*time.Hour - 1, "400d": 400 * 24 * time.Hour,
	} {
		if got := ago(now, now.Add(-before)); got != want {
			t.Errorf("%v ago is %q, want %q", before, got, want)
		}
	}
	if got := ago(now, time.Time{}); got != "" {
		t.Errorf("never is %q", got)
	}
}

func TestPrintJSON(t *testing.T) {
	var out bytes.Buffer
	if err := printJSON(&out, map[string]any{"a": "<&>", "list": []int{}}); err != nil {
		t.Fatal(err)
	}
	if want := "{\n  \"a\": \"<&>\",\n  \"list\": []\n}\n"; out.String() != want {
		t.Errorf("got %q", out.String())
	}
}

func TestStreamsWithoutTerminals(t *testing.T) {
	sys, _, _ := system()
	env := newEnv(sys, false)
	if env.InTTY || env.OutTTY || env.ErrTTY || env.Width != 0 {
		t.Errorf("%+v", env.Streams)
	}
	if _, _, ok := env.Terminal(); ok {
		t.Error("a terminal where there is none")
	}
}

func TestNearest(t *testing.T) {
	names := []string{"list", "ls", "restart", "stop", "h", "complete", "completion"}
	for word, want := range map[string]string{
		"lsit": "list", "lst": "list", "sotp": "stop", "restrat": "restart", "comp": "complete", "q": "", "zzzz": "", "": "", "completoin": "completion",
	} {
		if got := nearest(word, names); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
