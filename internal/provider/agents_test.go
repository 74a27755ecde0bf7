package provider

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each adapter obeys the rules of config.toml's, and all of its expressions can be read.
func TestAgents(t *testing.T) {
	for _, p := range agents() {
		v := Values{NativeID: NewNativeID(), Model: "m", Cwd: "/src/shop", RunDir: "/run", PID: "7"}
		start, err := p.StartArgv(v)
		if err != nil || p.NativeID == NativeChosen && !slices.Contains(start, v.NativeID) {
			t.Errorf("%s starts by %q, %v", p.Name, start, err)
		}
		if resume, err := p.ResumeArgv(v); err != nil || !slices.Contains(resume, v.NativeID) {
			t.Errorf("%s resumes by %q, %v", p.Name, resume, err)
		}
		for _, s := range p.Signs {
			if _, err := regexp.Compile(s.Match); err != nil || !slices.Contains([]string{OnTitle, OnStatus, OnScreen}, s.On) {
				t.Errorf("%s: %+v: %v", p.Name, s, err)
			}
		}
		if path, err := p.HistoryPath(v, func(name string) string { return map[string]string{"HOME": "/home/me"}[name] }); err != nil || p.History != HistoryAnnounced && !filepath.IsAbs(path) {
			t.Errorf("%s: history %q, %v", p.Name, path, err)
		}
		if p.Tried == "" || !p.TellsTurns() || !p.CanResume() {
			t.Errorf("%+v", p)
		}
	}
}

func TestHistoryPathFillsInNoPattern(t *testing.T) {
	p := Provider{History: "{env:AGENT_HOME|~/.agent}/[x]/*/{native_id}.jsonl"}
	for home, want := range map[string]string{"": "/h*me/.agent/[x]/*/a?b.jsonl", "/o[pt]": "/o[pt]/[x]/*/a?b.jsonl"} {
		path, err := p.HistoryPath(Values{NativeID: "a?b", Cwd: "/"}, func(name string) string { return map[string]string{"HOME": "/h*me", "AGENT_HOME": home}[name] })
		if err != nil {
			t.Fatal(err)
		}
		if plain := strings.NewReplacer(`\*`, "*", `\?`, "?", `\[`, "[").Replace(path); plain != want || strings.Count(path, `\`) < 2 {
			t.Errorf("%q, want %q in a pattern", path, want)
		}
	}
}

func TestFindHistory(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	p := Provider{Recorded: `"id":"{native_id}"(?s:.*)"user"`}
	pattern := filepath.Join(dir, "*.jsonl")
	write("a.jsonl", `{"id":"x.1"}`)
	write("b.jsonl", `{"id":"xx1"} {"user"}`)
	if got := p.FindHistory(pattern, "x.1"); got != "" {
		t.Errorf("found %s: a header is no conversation, and another's is not this one", got)
	}
	want := write("c.jsonl", "{\"id\":\"x.1\"}\n{\"user\"}")
	if got := p.FindHistory(pattern, "x.1"); got != want {
		t.Errorf("found %q", got)
	}
	write("d.jsonl", `{"id":"x.1"} {"user"}`)
	if got := p.FindHistory(pattern, "x.1"); got != "" {
		t.Errorf("found %s of two", got)
	}
}

func TestReadRegistry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "7.json")
	if e, err := ReadRegistry(path, 7, 9); err != nil || e != (RegistryEntry{}) {
		t.Errorf("none: %+v, %v", e, err)
	}
	for text, want := range map[string]string{
		`{"pid":7,"procStart":"9","sessionId":"s","status":"busy","more":[1]}`: "busy",
		`{"pid":7,"procStart":"8","sessionId":"s","status":"busy"}`:            "", // left by another process
		`{"pid":7,"procSt`: "",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if e, err := ReadRegistry(path, 7, 9); e.Status != want || err == nil != strings.HasSuffix(text, "}") {
			t.Errorf("%s: %+v, %v", text, e, err)
		}
	}
}

func FuzzReadRegistry(f *testing.F) {
	f.Add([]byte(`{"pid":7,"procStart":"9","sessionId":"s","status":"busy"}`))
	path := filepath.Join(f.TempDir(), "7.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if e, err := ReadRegistry(path, 7, 9); err == nil && e.NativeID != "" && (e.PID != 7 || e.Start != "9") {
			t.Errorf("%q: %+v", data, e)
		}
	})
}

func TestFileVariable(t *testing.T) {
	plugin := File{Name: "p.js", Value: `{"plugin":["file://{file}"]}`}
	settings := File{Name: "s.json", Value: "{file}", Unless: filepath.Join(t.TempDir(), "none")}
	for _, c := range []struct {
		f         File
		was, want string
	}{
		{plugin, "", `{"plugin":["file:///run/p.js"]}`},
		{plugin, `{"model":"m","plugin":["theirs"]}`, `{"model":"m","plugin":["theirs","file:///run/p.js"]}`},
		{plugin, `{"plugin":"one"}`, `{"plugin":"one"}`},
		{plugin, "// not JSON", "// not JSON"},
		{plugin, "null", "null"},
		{settings, "", "/run/s.json"},
		{settings, "/theirs", "/theirs"},
		{File{Value: "{file}", Unless: "/"}, "", ""},
	} {
		if got := c.f.Variable("/run", c.was); got != c.want {
			t.Errorf("%s after %q: %q, want %q", c.f.Name, c.was, got, c.want)
		}
	}
}

func TestAmended(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	load := func(text string) (Provider, error) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		set, err := Load(path, "/bin/berth")
		if err != nil {
			return Provider{}, err
		}
		return set.Get("gemini")
	}
	p, err := load("[provider.gemini]\nargs = [\"--yolo\"]\nenv = { A = \"b\", GEMINI_CLI_NO_RELAUNCH = \"false\" }\n")
	argv, _ := p.StartArgv(Values{NativeID: "x", Cwd: "/"})
	if err != nil || argv[len(argv)-1] != "--yolo" || p.Env["A"] != "b" || p.Env["GEMINI_CLI_NO_RELAUNCH"] != "true" || len(p.Signs) == 0 {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err = load("[provider.gemini]\nstart = [\"mine\"]\n"); err != nil || p.Start[0] != "mine" || len(p.Signs) > 0 {
		t.Errorf("in its place: %+v, %v", p, err)
	}
	if _, err = load("[provider.gemini]\nready = \"start\"\n"); err == nil || !strings.Contains(err.Error(), "ready") {
		t.Errorf("half a table: %v", err)
	}
}
