package provider

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"berth/internal/session"
)

const ok = "start = ['a']\n"

// badConfigs are configurations with what is wrong in line, what the message says of
// it and what the hint proposes.
var badConfigs = []struct {
	name, toml string
	line       int
	says, hint string
}{
	{"syntax", "[provider.x]\nstart = [\"a\n", 2, "", "double quotes"},
	{"a bare word", "[provider.x]\n\nready = start\n", 3, "", "double quotes"},
	{"a key twice", "[provider.x]\n" + ok + ok, 3, "already", ""},
	{"a table twice", "[stop]\n[stop]\n", 2, "", ""},
	{"unknown table", "\n[providers.x]\n" + ok, 2, `unknown key "providers"`, "did you mean provider?"},
	{"unknown key", "[provider.x]\n" + ok + "resum = []\n", 3, `unknown key "resum"`, "did you mean resume?"},
	{"unknown key, nothing like it", "[provider.x]\n" + ok + "colour = 'red'\n", 3, `unknown key "colour"`, "the keys here are start"},
	{"unknown key, dotted", "provider.x.start = ['a']\nprovider.x.zzz = 1\n", 2, `"zzz"`, "keys here"},
	{"unknown key, inline", "[provider]\nx = { start = ['a'],  zzz = 1 }\n", 2, `"zzz"`, "keys here"},
	{"unknown stop key", "[stop]\nspares = []\n", 2, `unknown key "spares"`, "did you mean spare?"},
	{"spare is a string", "[stop]\nspare = 'tmux'\n", 2, "not an array", `["…", "…"]`},
	{"stop is no table", "stop = 1\n", 1, "not a table", "[stop]"},
	{"provider is no table", "[provider]\nx = ['a']\n", 2, "not a table", "[provider.NAME]"},
	{"providers as an array", "[[provider]]\nname = 'x'\n", 1, "not a table", "[provider]"},
	{"no start", "\n\n[provider.x]\nready = 'start'\n", 3, "no start", `start = ["agent"`},
	{"start is a plain string", "[provider.x]\nstart = 'claude --fast'\n", 2, "without a shell", `start = ["claude", "--fast"]`},
	{"start is a shell string", "[provider.x]\nstart = 'a | b'\n", 2, "without a shell", `["sh", "-c", "…"]`},
	{"empty start", "[provider.x]\nstart = []\n", 2, "no program", "begin with the program"},
	{"a number in start", "[provider.x]\nstart = ['a',\n 1]\n", 2, "element 2", "double quotes"},
	{"start is a number", "[provider.x]\nstart = 1\n", 2, "not an array", ""},
	{"unknown placeholder", "[provider.x]\nstart = ['a', '{id}']\n", 2, "unknown placeholder {id}", ""},
	{"NUL", "[provider.x]\nstart = [\"a\\u0000\"]\n", 2, "NUL", ""},
	{"no resume", "[provider.x]\n" + "native_id = 'announced'\n" + ok, 2, "no resume", "resume = ["},
	{"no native id", "[provider.x]\n" + ok + "resume = ['a', '-c']\n", 3, "no native id", `native_id = "chosen"`},
	{"resume guesses", "[provider.x]\n" + ok + "native_id = 'announced'\nresume = ['a', '--continue']\n", 4, "which conversation", "{native_id}"},
	{"chosen, not passed", "[provider.x]\n" + ok + "native_id = 'chosen'\nresume = ['a', '{native_id}']\n", 2, "does not pass it on", "{native_id}"},
	{"id before it is known", "[provider.x]\nstart = ['a', '{native_id}']\nnative_id = 'announced'\nresume = ['a', '{native_id}']\n", 2, "nobody knows yet", "chosen"},
	{"bad native_id", "[provider.x]\n" + ok + "native_id = 'guess'\n", 3, "none of them", "file:PATH"},
	{"id in its own file's path", "[provider.x]\n" + ok + "native_id = 'file:{native_id}'\nresume = ['a', '{native_id}']\n", 3, "unknown placeholder", ""},
	{"native file without a path", "[provider.x]\n" + ok + "native_id = 'file:'\nresume = ['a', '{native_id}']\n", 3, "names no file", ""},
	{"~ in a native file", "[provider.x]\n" + ok + "native_id = 'file:~/x'\nresume = ['a', '{native_id}']\n", 3, "not expanded", "{run_dir}/"},
	{"history without id", "[provider.x]\n" + ok + "history = '/x'\n", 3, "no native id", "leave history out"},
	{"bad history", "[provider.x]\nstart = ['a', '{native_id}']\nnative_id = 'chosen'\nresume = ['a', '{native_id}']\nhistory = '/{prompt}'\n", 5, "unknown placeholder", ""},
	{"bad ready", "[provider.x]\n" + ok + "ready = 'later'\n", 3, "none of them", "output:REGEXP"},
	{"bad expression", "[provider.x]\n" + ok + "ready = 'output:(?<=x)'\n", 3, "expression", "RE2"},
	{"empty expression", "[provider.x]\n" + ok + "ready = 'output:'\n", 3, "it is empty", "RE2"},
	{"bad prompt", "[provider.x]\n" + ok + "prompt = 'stdin'\n", 3, "neither", "argv"},
	{"argv without {prompt}", "[provider.x]\n" + ok + "prompt = 'argv'\n", 3, "no {prompt}", ""},
	{"send with {prompt}", "[provider.x]\nstart = ['a', '{prompt}']\nprompt = 'send'\n", 3, "has a {prompt}", ""},
	{"a string that is none", "[provider.x]\n" + ok + "prompt = 1\n", 3, "not a string", ""},
	{"bad signal", "[provider.x]\n" + ok + "stop_signal = 'KILL'\n", 3, "not a polite signal", "TERM"},
	{"bad identity", "[provider.x]\n" + ok + "identity = ['A B']\n", 3, "name of a variable", ""},
	{"bad scrub", "[provider.x]\n" + ok + "scrub = ['*A']\n", 3, "name of a variable", ""},
	{"scrub of berth's", "[provider.x]\n" + ok + "scrub = ['BERTH_*']\n", 3, "berth's own", ""},
	{"env is a list", "[provider.x]\n" + ok + "env = ['A=1']\n", 3, "env is not a table", "env = {"},
	{"env of a number", "[provider.x]\n" + ok + "[provider.x.env]\n\nA = 1\n", 5, "A is not a string", ""},
	{"env of berth's", "[provider.x]\n" + ok + "env = { BERTH_HOME = '/' }\n", 3, "berth's own", ""},
	{"bad delay", "[provider.x]\n" + ok + "submit_delay = '300'\n", 3, "not a time", "300ms"},
	{"long delay", "[provider.x]\n" + ok + "submit_delay = '1h'\n", 3, "not a time", "10s"},
	{"no submit", "[provider.x]\n" + ok + "submit_keys = ''\n", 3, "is empty", `"\r"`},
	{"bad name", "[provider.'a b']\n" + ok, 1, "name of a provider", ""},
	{"name of a flag", "[provider.-x]\n" + ok, 1, "name of a provider", ""},
	{"demo", "[provider.demo]\n" + ok, 1, "built in", "my-demo"},
	{"bad close", "[close]\npane = 'detach'\n", 2, "nothing that closing a pane can do", "keep"},
	{"unknown close", "[close]\ntab = 'keep'\n", 2, "unknown key", "pane"},
	{"the first of two", "[provider.b]\nready = 'x'\n" + ok + "[provider.a]\nready = 'y'\n" + ok, 2, "", ""},
}

func TestBadConfigs(t *testing.T) {
	for _, c := range badConfigs {
		t.Run(c.name, func(t *testing.T) {
			_, err := decode("c", []byte(c.toml))
			if err == nil {
				t.Fatal("accepted")
			}
			line := checkRefusal(t, err, strings.Count(c.toml, "\n")+1)
			if line != c.line || !strings.Contains(err.Error(), c.says) || !strings.Contains(session.HintOf(err), c.hint) {
				t.Errorf("got  %v\nhint %s\nwant line %d, %q, hint %q", err, session.HintOf(err), c.line, c.says, c.hint)
			}
		})
	}
}

var refusal = regexp.MustCompile(`^c:(\d+): [^\n]+$`)

// checkRefusal checks the form of err and returns the line it names.
func checkRefusal(t *testing.T, err error, lines int) int {
	t.Helper()
	m := refusal.FindStringSubmatch(err.Error())
	if m == nil || session.ClassOf(err) != session.Usage || session.HintOf(err) == "" {
		t.Fatalf("not a refusal with file, line and hint: %q (hint %q)", err, session.HintOf(err))
	}
	n, _ := strconv.Atoi(m[1])
	if n < 1 || n > lines {
		t.Fatalf("line %d of %d: %v", n, lines, err)
	}
	return n
}

func TestReservedTablesAreLeftAlone(t *testing.T) {
	if _, err := decode("c", []byte("[tmux]\nx = 1\n[notify]\ny = [1]\n")); err != nil {
		t.Error(err)
	}
}

func TestDefaults(t *testing.T) {
	set, err := decode("c", []byte("[provider.x]\nstart = ['a']\nnative_id = 'announced'\nresume = ['a', '{native_id}']\nstop_signal = 'SIGINT'\n"))
	if err != nil {
		t.Fatal(err)
	}
	p := set.providers["x"]
	got := fmt.Sprint(p.Ready, p.History, p.Prompt, p.Stop, p.Submit)
	if want := fmt.Sprint("announced", "announced", "send", Stop{Signal: "INT"}, Submit{Keys: "\r"}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	set, err = decode("c", []byte("[provider.x]\nstart = ['a']\nnative_id = 'announced'\nresume = ['a', '{native_id}']\nhistory = ''\n"))
	if err != nil || set.providers["x"].History != "" {
		t.Errorf("history said to be none: %+v, %v", set.providers["x"], err)
	}
}

func TestUnknownProvider(t *testing.T) {
	set, err := Load("testdata/config.toml", "/berth")
	if err != nil {
		t.Fatal(err)
	}
	_, err = set.Get("cluade")
	if session.ClassOf(err) != session.Usage || !strings.Contains(err.Error(), `"cluade"`) {
		t.Errorf("error %v", err)
	}
	if h := session.HintOf(err); !strings.HasPrefix(h, "did you mean claude? known are claude, codex, demo, gemini, opencode, script, shell") {
		t.Errorf("hint %q", h)
	}
	_, err = set.Get("")
	if h := session.HintOf(err); !strings.HasPrefix(h, "known are") {
		t.Errorf("hint %q", h)
	}
}

func TestUnreadableConfig(t *testing.T) {
	_, err := Load(t.TempDir(), "/berth") // a directory
	if err == nil || session.ClassOf(err) != session.Usage {
		t.Errorf("error %v", err)
	}
}
