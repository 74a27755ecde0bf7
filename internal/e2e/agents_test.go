//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"berth/internal/fakemodel"
	"berth/internal/session"
	"berth/manifest"
)

// agentsPath are the directories of the real agents, installed at the versions .ci/agents
// names.
var agentsPath = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("../../.ci/agents", "--path").Output()
	if err != nil {
		return "", fmt.Errorf("the agents cannot be installed: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
})

// realAgent is an agent, and how it is told where its model is, that its first questions
// are answered, and whether it has to ask before it runs a command.
type realAgent struct {
	name   string
	settle func(w *world, url string, ask bool) (env []string)
	dialog bool // it asks something at its first start
}

var realAgents = []realAgent{
	{"claude", settleClaude, true},
	{"codex", settleCodex, true},
	{"gemini", settleGemini, true},
	{"opencode", settleOpencode, false},
}

func settleClaude(w *world, url string, ask bool) []string {
	home := filepath.Dir(w.home)
	w.json(home+"/.claude.json", map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark", "hasSeenAutoDefaultNotice": true,
		"customApiKeyResponses": map[string]any{"approved": []string{"00000000000000000000"}, "rejected": []string{}},
		"projects":              map[string]any{w.cwd: map[string]any{"hasTrustDialogAccepted": true}},
	})
	rules := map[string]any{"allow": []string{"Bash"}}
	if ask {
		rules = map[string]any{"ask": []string{"Bash"}}
	}
	w.json(home+"/.claude/settings.json", map[string]any{
		"skipDangerousModePermissionPrompt": true, "permissions": rules,
	})
	return []string{
		"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=sk-ant-fake-000000000000000000000",
		"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "IS_SANDBOX=1",
	}
}

func settleCodex(w *world, url string, ask bool) []string {
	approval, sandbox := "never", "danger-full-access"
	if ask {
		approval, sandbox = "on-request", "workspace-write"
	}
	w.text(filepath.Dir(w.home)+"/.codex/config.toml", fmt.Sprintf(`model = "fake-model"
model_provider = "fake"
check_for_update_on_startup = false
approval_policy = %q
sandbox_mode = %q

[model_providers.fake]
name = "fake"
base_url = "%s/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
request_max_retries = 1
stream_max_retries = 1

[projects.%q]
trust_level = "trusted"
`, approval, sandbox, url, w.cwd))
	return []string{"FAKE_KEY=x"}
}

func settleGemini(w *world, url string, ask bool) []string {
	home := filepath.Dir(w.home)
	w.json(home+"/.gemini/settings.json", map[string]any{
		"security":  map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}, "folderTrust": map[string]any{"enabled": true}},
		"general":   map[string]any{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
		"privacy":   map[string]any{"usageStatisticsEnabled": false},
		"telemetry": map[string]any{"enabled": false},
		"ui":        map[string]any{"theme": "Default"},
		"tools":     map[string]any{"allowed": allowed(!ask, "run_shell_command")},
	})
	w.json(home+"/.gemini/trustedFolders.json", map[string]any{w.cwd: "TRUST_FOLDER"})
	return []string{"GEMINI_API_KEY=fake", "GOOGLE_GEMINI_BASE_URL=" + url}
}

func settleOpencode(w *world, url string, ask bool) []string {
	config := map[string]any{
		"autoupdate": false, "share": "disabled", "model": "fake/fake-model", "small_model": "fake/fake-model",
		"provider": map[string]any{"fake": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "Fake",
			"options": map[string]any{"baseURL": url + "/v1", "apiKey": "x"},
			"models":  map[string]any{"fake-model": map[string]any{"name": "Fake", "limit": map[string]any{"context": 100000, "output": 8000}}},
		}},
	}
	if ask {
		config["permission"] = map[string]any{"bash": "ask"}
	}
	w.json(filepath.Dir(w.home)+"/config/opencode/opencode.json", config)
	return []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"}
}

func allowed(yes bool, what ...string) []string {
	if yes {
		return what
	}
	return []string{}
}

func (w *world) json(path string, v any) {
	w.t.Helper()
	b, err := json.Marshal(v)
	must(w.t, err)
	w.text(path, string(b))
}

func (w *world) text(path, text string) {
	w.t.Helper()
	must(w.t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(w.t, os.WriteFile(path, []byte(text), 0o600))
}

// private is a directory that nobody else can write into, nor above: gemini reads
// settings from no other.
func private(t *testing.T) string {
	t.Helper()
	home, err := os.UserHomeDir()
	must(t, err)
	dir := filepath.Join(home, ".cache")
	must(t, os.MkdirAll(dir, 0o700))
	return dir
}

// withAgents runs f in a world of its own for each agent, which is started from inside
// other agents, as far as its environment tells.
func withAgents(t *testing.T, f func(t *testing.T, w *world, a realAgent, model *fakemodel.Server)) {
	path, err := agentsPath()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range realAgents {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			w, model := newWorldIn(t, private(t)), fakemodel.Start(t)
			w.env = append(w.env, a.settle(w, model.URL(), strings.Contains(t.Name(), "Asks"))...)
			w.env = append(w.env, "PATH="+filepath.Dir(berthBin)+":"+path+":"+os.Getenv("PATH"),
				"CLAUDECODE=1", "CLAUDE_CODE_CHILD_SESSION=1", "CLAUDE_CODE_SESSION_ID=other", "CODEX_THREAD_ID=other",
				"OPENCODE=1", "OPENCODE_PID=1", "GEMINI_CLI=1", "GEMINI_SESSION_ID=other", "AGENT=1")
			t.Cleanup(func() {
				if t.Failed() {
					w.tellScreens()
				}
			})
			f(t, w, a, model)
		})
	}
}

// tellScreens logs what the agents show.
func (w *world) tellScreens() {
	var all []session.Record
	w.run("list", "--json").want(0).decode(&all)
	for _, r := range all {
		w.t.Logf("%s: %s %v\n%s", r.ID, r.Phase, r.Turn, strings.Join(strings.FieldsFunc(w.run("capture", r.ID).out, func(r rune) bool { return r == '\n' }), "\n"))
	}
}

// agentPatience is for agents that take half a minute to start on a loaded machine.
const agentPatience = "50s"

// begin starts a conversation of the agent's, and waits for its first answer.
func (w *world) begin(a realAgent) session.Record {
	w.t.Helper()
	return w.run("new", a.name, "--json", "--wait", "--ready-timeout", agentPatience, "--", "first message").want(0).record()
}

// says sends a message and waits for the end of the turn.
func (w *world) says(id, text string) {
	w.t.Helper()
	w.run("send", id, text, "--wait").want(0)
}

func (w *world) idle(id string) {
	w.t.Helper()
	w.run("wait", id, "--timeout", agentPatience).want(0)
}

func (w *world) soonIs(id, turn string) {
	w.t.Helper()
	w.eventually("the turn is "+turn, func() bool {
		r := w.show(id)
		return r.Turn != nil && r.Turn.State == turn
	})
}

// heardBy is what the model was sent with the message last: what the person said, in order.
func heardBy(t *testing.T, model *fakemodel.Server, last string) (said []string) {
	t.Helper()
	req, ok := model.LastWith(last)
	if !ok {
		t.Fatalf("the model has not heard %q", last)
	}
	for _, turn := range req.Turns {
		for _, word := range []string{"first", "second", "third", "fourth", "fifth", "mine", "yours"} {
			if turn.Role == "user" && strings.Contains(turn.Text, word+" message") {
				said = append(said, word)
			}
		}
	}
	return said
}

// One conversation, from its start through all that ends a client: it is the same one
// each time, and the model is sent all of it.
func TestAgentsKeepTheirConversation(t *testing.T) {
	t.Parallel()
	withAgents(t, func(t *testing.T, w *world, a realAgent, model *fakemodel.Server) {
		r := w.begin(a)
		if !r.Resumable || r.NativeID == nil {
			t.Fatalf("%+v", r)
		}
		w.says(r.ID, "second message")
		w.run("stop", r.ID).want(0)
		w.nothingRuns()

		w.run("restart", r.ID, "--ready-timeout", agentPatience).want(0)
		w.idle(r.ID)
		w.says(r.ID, "third message")
		if said := heardBy(t, model, "third message"); !slices.Equal(said, []string{"first", "second", "third"}) {
			t.Errorf("after restart the model is sent %v", said)
		}

		before := w.show(r.ID)
		syscall.Kill(before.Client.PID, syscall.SIGKILL)
		w.eventually("interrupted", func() bool { return w.show(r.ID).State == session.StateInterrupted })
		w.run("restart", r.ID, "--ready-timeout", agentPatience).want(0)
		w.idle(r.ID)
		x := w.open("open", "--replace", r.ID)
		w.eventually("another client", func() bool {
			now := w.show(r.ID)
			return now.Client != nil && now.Client.PID != before.Client.PID && now.HeldBy != nil && *now.HeldBy == session.HeldByTerminal
		})
		w.idle(r.ID)
		w.says(r.ID, "fourth message")
		if said := heardBy(t, model, "fourth message"); !slices.Equal(said, []string{"first", "second", "third", "fourth"}) {
			t.Errorf("after SIGKILL and --replace the model is sent %v", said)
		}
		if now := w.show(r.ID); *now.NativeID != *r.NativeID || now.Run != r.Run {
			t.Errorf("another conversation: %+v", now)
		}
		x.typeIn("\x1c")
		x.wait()
		w.run("stop", r.ID).want(0)
		w.nothingRuns()
	})
}

// Two conversations in one directory, one of them begun without a word: they never mix.
func TestAgentsInOneDirectory(t *testing.T) {
	t.Parallel()
	withAgents(t, func(t *testing.T, w *world, a realAgent, model *fakemodel.Server) {
		silent := w.run("new", a.name, "--json", "--ready-timeout", agentPatience).want(0).record()
		if silent.Resumable || silent.Reason == nil || *silent.Reason != session.NothingSaid {
			t.Fatalf("%+v", silent)
		}
		other := w.run("new", a.name, "--json", "--ready-timeout", agentPatience, "--", "yours message").want(0).record()
		w.idle(silent.ID)
		w.says(silent.ID, "mine message")
		w.eventually("resumable", func() bool { return w.show(silent.ID).Resumable })
		w.idle(other.ID)
		w.run("stop", "--all").want(0)
		w.nothingRuns()
		w.run("restart", "--ready-timeout", agentPatience, silent.ID, other.ID).want(0)
		for id, whose := range map[string]string{silent.ID: "mine", other.ID: "yours"} {
			w.idle(id)
			w.says(id, "third message")
			if said := heardBy(t, model, "third message"); !slices.Equal(said, []string{whose, "third"}) {
				t.Errorf("the model is sent %v, want %s", said, whose)
			}
		}
	})
}

// An agent that works is busy, can be moved meanwhile, takes no message, and is idle
// after; one that is stopped in a tool call leaves nothing.
func TestAgentsAtWork(t *testing.T) {
	t.Parallel()
	withAgents(t, func(t *testing.T, w *world, a realAgent, model *fakemodel.Server) {
		r := w.begin(a)
		w.run("send", r.ID, "HOLD it").want(0)
		w.soonIs(r.ID, manifest.TurnBusy)
		w.run("send", r.ID, "another").want(4).says("is busy", "berth wait "+r.ID)
		x := w.open("move", r.ID)
		w.eventually("moved", func() bool { h := w.show(r.ID).HeldBy; return h != nil && *h == session.HeldByTerminal })
		model.Release("it")
		w.idle(r.ID)
		x.typeIn("\x1c")
		x.wait()

		mark := filepath.Join(w.cwd, "began")
		w.run("send", r.ID, "RUN touch began; sleep 1000").want(0)
		w.eventually("the tool runs", func() bool { _, err := os.Stat(mark); return err == nil })
		w.run("stop", r.ID).want(0)
		w.nothingRuns()
	})
}

// An agent that asks for an approval waits, which is told, and takes no message.
func TestAgentsAsks(t *testing.T) {
	t.Parallel()
	withAgents(t, func(t *testing.T, w *world, a realAgent, model *fakemodel.Server) {
		r := w.begin(a)
		w.run("send", r.ID, "RUNESC touch it").want(0)
		w.soonIs(r.ID, manifest.TurnWaiting)
		w.run("send", r.ID, "another").want(4).says("waits for", "berth open "+r.ID)
	})
}

// A question at the first start blocks: nothing is typed, and what it asks is told.
func TestAgentsBlocked(t *testing.T) {
	t.Parallel()
	withAgents(t, func(t *testing.T, w *world, a realAgent, model *fakemodel.Server) {
		if !a.dialog {
			return
		}
		elsewhere := filepath.Join(filepath.Dir(w.home), "elsewhere")
		must(t, os.Mkdir(elsewhere, 0o700))
		if out, err := exec.Command("git", "init", "-q", elsewhere).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		res := w.start(nil, "new", a.name, "--json", "--cwd", elsewhere, "--ready-timeout", "20s", "--", "first message").wait()
		res.want(5).says("waits for", "berth open ")
		if r := res.record(); r.Phase != session.Blocked || r.Turn == nil || r.Turn.State != manifest.TurnBlocked {
			t.Errorf("%+v", r)
		}
		if _, ok := model.LastWith("first message"); ok {
			t.Error("the message was typed")
		}
	})
}

// An id that changes inside the process is the one that is resumed; the former is told.
func TestAgentsClear(t *testing.T) {
	t.Parallel()
	withAgents(t, func(t *testing.T, w *world, a realAgent, model *fakemodel.Server) {
		clear := map[string]string{"claude": "/clear", "codex": "/new", "opencode": "/new"}[a.name]
		if clear == "" {
			return // gemini's id is that of its process
		}
		r := w.begin(a)
		x := w.open("open", r.ID)
		w.eventually("joined", func() bool { h := w.show(r.ID).HeldBy; return h != nil && *h == session.HeldByTerminal })
		from := len(x.all())
		x.typeIn(clear)
		x.gets(from, clear)
		x.typeIn("\r")
		if a.name == "claude" {
			w.eventually("another id", func() bool { now := w.show(r.ID); return now.NativeID != nil && *now.NativeID != *r.NativeID })
		} else {
			w.eventually("a new screen", func() bool { return !strings.Contains(w.run("capture", r.ID).out, "FAKE-REPLY") })
		}
		x.typeIn("\x1c")
		x.wait()
		w.says(r.ID, "second message")
		w.eventually("resumable under another id", func() bool {
			now := w.show(r.ID)
			return now.Resumable && *now.NativeID != *r.NativeID && slices.Contains(now.FormerIDs, *r.NativeID)
		})
		w.run("restart", r.ID, "--ready-timeout", agentPatience).want(0)
		w.idle(r.ID)
		w.says(r.ID, "third message")
		if said := heardBy(t, model, "third message"); !slices.Equal(said, []string{"second", "third"}) {
			t.Errorf("the model is sent %v", said)
		}
	})
}

// A conversation that is open somewhere else blocks: what is typed there would be taken
// for keys.
func TestCodexHeldElsewhere(t *testing.T) {
	t.Parallel()
	withAgents(t, func(t *testing.T, w *world, a realAgent, model *fakemodel.Server) {
		if a.name != "codex" {
			return
		}
		r := w.begin(a)
		w.run("stop", r.ID).want(0)
		elsewhere := exec.Command("/bin/sh", "-c", "exec codex resume $ID --disable daemon_auto_start")
		elsewhere.Env, elsewhere.Dir = append(slices.Clone(w.env), "ID="+*r.NativeID), w.cwd
		other := startTTY(t, elsewhere)
		other.waitFor("first message")
		w.run("restart", r.ID, "--ready-timeout", "20s").want(4).says("is open in another codex", "berth restart "+r.ID)
		w.run("send", r.ID, "fork it").want(4).says("is blocked")
		other.typeIn("\x03")
		other.wait()
		w.run("restart", r.ID).want(0)
		w.idle(r.ID)
		w.says(r.ID, "second message")
		if now := w.show(r.ID); *now.NativeID != *r.NativeID {
			t.Errorf("it forked: %+v", now)
		}
	})
}

// A subagent's conversation is never taken for the person's: only a new one of theirs is.
func TestSubagentIsNotTheConversation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	program := filepath.Join(filepath.Dir(w.home), "codex")
	must(t, os.WriteFile(program, []byte(`#!/bin/sh
locks=$HOME/.codex/thread-writer-locks sessions=$HOME/.codex/sessions/2026/12/01
mkdir -p "$locks" "$sessions"
thread() { echo "{\"thread_source\":\"$2\"}" >"$sessions/rollout-x-$1-1111-4111-8111-111111111111.jsonl"; }
says() { printf '\033]7501;state=%s:app=codex\007' "$1"; }
exec 7>"$locks/00000001-1111-4111-8111-111111111111.lock"
says idle
while read -r line; do
	says working
	case $line in
	*subagent*) exec 8>"$locks/00000002-1111-4111-8111-111111111111.lock"; thread 00000002 subagent ;;
	*another*) exec 9>"$locks/00000003-1111-4111-8111-111111111111.lock"; thread 00000003 user ;;
	*) thread 00000001 user ;;
	esac
	says idle
done
`), 0o700))
	w.env = append(w.env, "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
	r := w.run("new", "codex", "--json", "--wait", "--", "hello").want(0).record()
	w.says(r.ID, "use a subagent")
	w.says(r.ID, "and go on")
	if now := w.show(r.ID); *now.NativeID != *r.NativeID || len(now.FormerIDs) != 0 {
		t.Fatalf("the subagent's: %+v", now)
	}
	w.says(r.ID, "begin another")
	w.eventually("another conversation", func() bool {
		now := w.show(r.ID)
		return strings.HasPrefix(*now.NativeID, "00000003") && slices.Equal(now.FormerIDs, []string{*r.NativeID})
	})
}
