package provider

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
)

func TestDemoIsBuiltIn(t *testing.T) {
	set, err := Load(filepath.Join(t.TempDir(), "none.toml"), "/opt/{x}/berth")
	if err != nil {
		t.Fatal(err)
	}
	p, err := set.Get("demo")
	if err != nil {
		t.Fatal(err)
	}
	argv, err := p.StartArgv(Values{NativeID: "id-1", Model: "big"})
	want := []string{"/opt/{x}/berth", "demo-agent", "--session-id=id-1", "--model=big"}
	if err != nil || !slices.Equal(argv, want) {
		t.Errorf("start: %q, %v; want %q", argv, err, want)
	}
	argv, err = p.ResumeArgv(Values{NativeID: "id-1"})
	if want := want[:2:2]; err != nil || !slices.Equal(argv, append(want, "--resume=id-1")) {
		t.Errorf("resume: %q, %v", argv, err)
	}
	if !p.CanResume() || !slices.Equal(set.Names(), []string{"claude", "codex", "demo", "gemini", "opencode"}) || !slices.Equal(set.Spare, defaultSpare) {
		t.Errorf("set %+v", set)
	}
}

func TestEveryKey(t *testing.T) {
	set, err := Load("testdata/config.toml", "/berth")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"claude", "codex", "demo", "gemini", "opencode", "script", "shell"}; !slices.Equal(set.Names(), want) {
		t.Errorf("names %q, want %q", set.Names(), want)
	}
	if set.Spare[4] != "adb" {
		t.Errorf("spare %q", set.Spare)
	}
	codex, _ := set.Get("codex")
	want := Provider{
		Name:     "codex",
		Start:    []string{"codex", "--disable", "daemon_auto_start", "-m", "{model}"},
		Resume:   []string{"codex", "resume", "{native_id}", "-C", "{cwd}", "-m", "{model}"},
		NativeID: "announced", History: "announced", Ready: "output:(?m)^. Ask", Prompt: "send",
		Identity: []string{"CODEX_HOME", "HOME"}, Scrub: []string{"CODEX_*", "NO_COLOR"},
		Stop:   Stop{Keys: "\x03", Signal: "TERM"},
		Submit: Submit{Keys: "\r", Delay: 400 * time.Millisecond},
	}
	if !reflect.DeepEqual(codex, want) {
		t.Errorf("codex\n got %+v\nwant %+v", codex, want)
	}
	if re, err := codex.ReadyPattern(); err != nil || !re.MatchString("x\n> Ask me") {
		t.Errorf("pattern %v, %v", re, err)
	}
	if codex.Stop.Number() != syscall.SIGTERM {
		t.Errorf("signal %v", codex.Stop.Number())
	}
	script, _ := set.Get("script")
	v := Values{Cwd: "/w", RunDir: "/r", NativeID: "n"}
	getenv := func(name string) string { return map[string]string{"HOME": "/home/me"}[name] }
	if got, err := script.HistoryPath(v, getenv); err != nil || got != "/home/me/.agent/n.jsonl" {
		t.Errorf("history %q, %v", got, err)
	}
	if got, err := script.NativeFile(v); err != nil || got != "/r/native-id" {
		t.Errorf("native file %q, %v", got, err)
	}
	if script.Prompt != PromptArgv || script.Ready != ReadyStart {
		t.Errorf("script %+v", script)
	}
	shell, _ := set.Get("shell")
	if shell.CanResume() || shell.Env["PS1"] != "(berth) $ " {
		t.Errorf("shell %+v", shell)
	}
	if _, err := shell.ResumeArgv(v); err == nil {
		t.Error("a shell resumed")
	}
}

func TestProviderSurvivesJSON(t *testing.T) {
	set, err := Load("testdata/config.toml", "/berth")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range set.Names() {
		p, _ := set.Get(name)
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var back Provider
		if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(p, back) {
			t.Errorf("%s: %v\n got %+v\nwant %+v", name, err, back, p)
		}
	}
}

func TestEnviron(t *testing.T) {
	p := Provider{
		Identity: []string{"CLAUDE_CONFIG_DIR"}, Scrub: []string{"CLAUDE*", "PAGER"},
		Env: map[string]string{"B": "2", "A": "1"},
	}
	got := p.Environ([]string{"CLAUDECODE=1", "CLAUDE_CONFIG_DIR=/c", "PAGER=cat", "PAGERX=1", "A=old", "Z=z"})
	want := []string{"CLAUDE_CONFIG_DIR=/c", "PAGERX=1", "Z=z", "A=1", "B=2"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNativeIDIsAUUID(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	a, b := NewNativeID(), NewNativeID()
	if a == b || !form.MatchString(a) || !form.MatchString(b) {
		t.Errorf("%s, %s", a, b)
	}
}

func TestArgv(t *testing.T) {
	full := Values{Prompt: "do 'it'\n{cwd} $HOME;", NativeID: "id", Model: "m", Cwd: "/w", RunDir: "/r"}
	for _, c := range []struct {
		name string
		tmpl []string
		v    Values
		want []string // nil: an error
	}{
		{"values are not expanded again", []string{"a", "{prompt}"}, full, []string{"a", full.Prompt}},
		{"several in one argument", []string{"a", "{cwd}:{run_dir}/{native_id}"}, full, []string{"a", "/w:/r/id"}},
		{"braces", []string{"a", `{{"m":"{model}"}}`}, full, []string{"a", `{"m":"m"}`}},
		{"an empty argument stays", []string{"a", "", "b"}, full, []string{"a", "", "b"}},
		{"no prompt, no argument", []string{"a", "-v", "{prompt}"}, Values{}, []string{"a", "-v"}},
		{"no model, no --model=", []string{"a", "--model={model}", "b"}, Values{}, []string{"a", "b"}},
		{"no model, no flag before it", []string{"a", "-m", "{model}", "b"}, Values{}, []string{"a", "b"}},
		{"a model alone takes no other argument with it", []string{"a", "run", "{model}"}, Values{}, []string{"a", "run"}},
		{"-- is not a flag", []string{"a", "--", "{model}"}, Values{}, []string{"a", "--"}},
		{"--x=y is not a flag with a value to come", []string{"a", "--x=y", "{model}"}, Values{}, []string{"a", "--x=y"}},
		{"the program is never taken for the flag", []string{"-a", "{model}"}, Values{}, []string{"-a"}},
		{"no id", []string{"a", "{native_id}"}, Values{}, nil},
		{"no directory", []string{"a", "{cwd}"}, Values{}, nil},
		{"no program", []string{"{model}"}, Values{}, nil},
		{"an id that looks like a flag", []string{"a", "{native_id}"}, Values{NativeID: "--danger"}, nil},
		{"an id over two lines", []string{"a", "{native_id}"}, Values{NativeID: "a\nb"}, nil},
		{"NUL", []string{"a", "{prompt}"}, Values{Prompt: "a\x00b"}, nil},
		{"unknown placeholder", []string{"a", "{id}"}, full, nil},
		{"no variables in an argv", []string{"a", "{env:HOME}"}, full, nil},
		{"open brace", []string{"a", "{cwd"}, full, nil},
		{"close brace", []string{"a", "cwd}"}, full, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Provider{Start: c.tmpl}.StartArgv(c.v)
			if (err != nil) != (c.want == nil) || !slices.Equal(got, c.want) {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestHistoryPath(t *testing.T) {
	getenv := func(name string) string { return map[string]string{"HOME": "/h", "AGENT_HOME": "/a"}[name] }
	for _, c := range []struct{ tmpl, id, want string }{
		{"", "x", ""},
		{"announced", "x", ""},
		{"~/.agent/{native_id}", "x", "/h/.agent/x"},
		{"{env:AGENT_HOME}/{native_id}", "x", "/a/x"},
		{"state/{native_id}", "x", "/w/state/x"},
		{"{env:NOT_SET}/{native_id}", "x", "error"},
		{"~/{native_id}", "../../etc/passwd", "error"},
		{"~/{native_id}/log", "..", "error"},
		{"~/{native_id}", "", "error"},
	} {
		got, err := Provider{History: c.tmpl}.HistoryPath(Values{NativeID: c.id, Cwd: "/w"}, getenv)
		if err != nil {
			got = "error"
		}
		if got != c.want {
			t.Errorf("%q with %q: got %q, %v; want %q", c.tmpl, c.id, got, err, c.want)
		}
	}
}

// FuzzTemplate checks against a plain rewriting of the same rule: when every value
// is one marker, expanding is replacing.
func FuzzTemplate(f *testing.F) {
	for _, s := range []string{"", "a", "{model}", "{{", "}}", "{{{model}}}", "{", "}", "{x}", "é{cwd}\x00", "{model}{cwd}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, tmpl string) {
		got, err := expand(tmpl, argvNames, func(string) string { return "\x01" })
		if err != nil {
			return
		}
		want := strings.NewReplacer("{{", "{", "}}", "}", "{prompt}", "\x01", "{native_id}", "\x01",
			"{model}", "\x01", "{cwd}", "\x01", "{run_dir}", "\x01").Replace(tmpl)
		if got != want {
			t.Errorf("%q: got %q, want %q", tmpl, got, want)
		}
		if utf8.ValidString(tmpl) && !utf8.ValidString(got) {
			t.Errorf("%q: %q is not UTF-8", tmpl, got)
		}
	})
}

func FuzzConfig(f *testing.F) {
	data, err := os.ReadFile("testdata/config.toml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data))
	for _, c := range badConfigs {
		f.Add(c.toml)
	}
	f.Fuzz(func(t *testing.T, text string) {
		set, err := decode("c", []byte(text))
		if err != nil {
			checkRefusal(t, err, strings.Count(text, "\n")+1)
			return
		}
		v := Values{Prompt: "p", NativeID: "n", Model: "m", Cwd: "/c", RunDir: "/r"}
		for name, p := range set.providers {
			if argv, err := p.StartArgv(v); err != nil || len(argv) != len(p.Start) {
				t.Errorf("%s: start %q, %v", name, argv, err)
			}
			if p.CanResume() {
				if _, err := p.ResumeArgv(v); err != nil {
					t.Errorf("%s: resume %v", name, err)
				}
			}
			if _, err := p.ReadyPattern(); err != nil {
				t.Errorf("%s: ready %v", name, err)
			}
		}
	})
}
