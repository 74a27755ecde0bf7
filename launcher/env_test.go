package launcher

import (
	"slices"
	"strings"
	"testing"

	"berth/internal/home"
	"berth/internal/provider"
)

func TestScrub(t *testing.T) {
	for _, c := range []struct {
		name string
		env  []string
		want []string
	}{
		{"a person's variables stay", []string{"PATH=/bin", "API_KEY=secret", "EMPTY=", "X=a=b"}, []string{"PATH=/bin", "API_KEY=secret", "EMPTY=", "X=a=b"}},
		{"an enclosing session's go", []string{"BERTH_HOME=/h", "BERTH_RUN_ID=r", "BERTH_SESSION=token", "BERTH_ANYTHING_NEW=1", "BERTHA=stays"}, []string{"BERTHA=stays"}},
		{"claude's markers go", []string{"CLAUDECODE=1", "CLAUDE_CODE_CHILD_SESSION=1", "CLAUDE_CODE_MESSAGING_TOKEN=x", "CLAUDE_CONFIG_DIR=/c"}, []string{"CLAUDE_CONFIG_DIR=/c"}},
		{"codex's markers go, its home stays", []string{"CODEX_THREAD_ID=1", "CODEX_CI=1", "CODEX_HOME=/c"}, []string{"CODEX_HOME=/c"}},
		{"looks go beside a marker", []string{"CODEX_CI=1", "NO_COLOR=1", "PAGER=cat", "GIT_EDITOR=true"}, nil},
		{"looks stay for a person", []string{"NO_COLOR=1", "PAGER=less", "GIT_EDITOR=vi"}, []string{"NO_COLOR=1", "PAGER=less", "GIT_EDITOR=vi"}},
		{"the terminal's go", []string{"TERM=screen", "TMUX=/tmp/x,1,0", "TMUX_PANE=%1", "KITTY_WINDOW_ID=1", "TERM_PROGRAM=x", "VTE_VERSION=1", "COLUMNS=80"}, nil},
		{"what is no variable goes", []string{"nonsense", "PATH=/bin"}, []string{"PATH=/bin"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			given := slices.Clone(c.env)
			if got := Scrub(c.env); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if !slices.Equal(given, c.env) {
				t.Error("the caller's own was changed")
			}
		})
	}
}

func TestClientEnv(t *testing.T) {
	s := Spec{
		Home: home.Home{Dir: "/home/b"}, Run: "0m4zr8t1c9ab77xq", Session: "7k3fq2m9x0abcdef", Client: Command{Cwd: "/work"},
		Provider: provider.Provider{Env: map[string]string{"AGENT_MODE": "set"}, Scrub: []string{"AGENT_OLD*"}},
	}
	got := ClientEnv([]string{"A=1", "A=2", "BERTH_RUN_ID=outer", "BERTH_ROLE=supervisor", "PWD=/elsewhere", "AGENT_OLD_X=1", "AGENT_MODE=caller", "TERM=dumb", "ODD=\xff\n;'\"$HOME #{x}"}, s, "/bin/berth")
	want := []string{
		"A=2", "AGENT_MODE=set", "BERTH_BIN=/bin/berth", "BERTH_HOME=/home/b", "BERTH_RUN_DIR=/home/b/runs/0m/0m4zr8t1c9ab77xq",
		"BERTH_RUN_ID=0m4zr8t1c9ab77xq", "BERTH_SESSION_ID=7k3fq2m9x0abcdef", "COLORTERM=truecolor", "ODD=\xff\n;'\"$HOME #{x}", "PWD=/work", "TERM=xterm-256color",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestOwnEnvHoldsNoSecret(t *testing.T) {
	got := OwnEnv([]string{"PATH=/bin", "HOME=/h", "API_KEY=secret", "BERTH_RUN_ID=r", "LD_PRELOAD=x", "TMUX=1", "PATH=/usr/bin"}, "BERTH_ROLE=tmux")
	if want := []string{"BERTH_ROLE=tmux", "HOME=/h", "PATH=/usr/bin"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Whatever the environment, no mark of an outer session or agent comes through, and
// everything else does.
func FuzzScrub(f *testing.F) {
	f.Add("PATH=/bin\x00BERTH_RUN_ID=x\x00CLAUDECODE=1\x00PAGER=cat")
	f.Add("=\x00==\x00A\x00TMUX=\x00KITTY_=")
	f.Fuzz(func(t *testing.T, environ string) {
		env := strings.Split(environ, "\x00")
		got := Scrub(env)
		marked := false
		for _, kv := range env {
			k, _, _ := strings.Cut(kv, "=")
			marked = marked || slices.Contains(agentMarkers, k)
		}
		for _, kv := range env {
			k, _, ok := strings.Cut(kv, "=")
			drop := !ok || strings.HasPrefix(k, "BERTH_") || slices.Contains(agentMarkers, k) || slices.Contains(terminalIdentity, k) || marked && slices.Contains(agentLooks, k)
			for _, p := range terminalPrefixes {
				drop = drop || strings.HasPrefix(k, p)
			}
			if slices.Contains(got, kv) == drop {
				t.Fatalf("%q of %q: dropped %v", kv, env, drop)
			}
		}
	})
}
