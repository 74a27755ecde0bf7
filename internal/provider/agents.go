package provider

import (
	_ "embed"
	"maps"
	"slices"
	"time"
)

// The plugin that has opencode announce itself.
//
//go:embed opencode.js
var opencodePlugin string

// agents are the adapters of agents that berth knows. What is said of one was seen in
// the version it names as Tried; doctor tells when a newer one is installed.
func agents() []Provider {
	return []Provider{claude(), codex(), gemini(), opencode()}
}

// claude keeps a file about each live process of it, with the id of its conversation,
// which changes at /clear, and whether it is busy. It takes an id at start, but neither
// to resume nor where a history with that id is there already.
func claude() Provider {
	const config = "{env:CLAUDE_CONFIG_DIR|~/.claude}"
	return Provider{
		Name: "claude", Tried: "2.1.332",
		Start:    []string{"claude", "--session-id", "{native_id}", "--model", "{model}"},
		Resume:   []string{"claude", "--resume", "{native_id}", "--model", "{model}"},
		NativeID: NativeChosen,
		Registry: config + "/sessions/{pid}.json",
		History:  config + "/projects/*/{native_id}.jsonl", // of the directory it was started in, not of where it is resumed
		Recorded: `"type":"(user|assistant)"`,
		Ready:    ReadyAnnounced,
		Settle:   500 * time.Millisecond, // it says idle 0.1 s before it asks the last of its first questions
		Prompt:   PromptSend,
		Identity: []string{"CLAUDE_CONFIG_DIR"},
		Signs: []Sign{
			{On: OnScreen, Match: `Quick safety check|trust this folder`, Turn: "blocked", For: "trust in the directory"},
			{On: OnScreen, Match: `Detected a custom API key`, Turn: "blocked", For: "the use of an API key"},
			{On: OnScreen, Match: `Select login method|Choose the text style`, Turn: "blocked", For: "its first set-up"},
		},
		Stop:   Stop{Signal: "TERM"},
		Submit: Submit{Keys: defaultSubmit},
	}
}

// codex tells its state in OSC 7501 and holds a lock file open that is named after its
// thread. Its daemon would outlive the client with all its tools, and serve the next
// client with the first one's environment, so it is switched off.
func codex() Provider {
	const home = "{env:CODEX_HOME|~/.codex}"
	return Provider{
		Name: "codex", Tried: "0.171.0",
		Start:  []string{"codex", "--disable", "daemon_auto_start", "--model", "{model}"},
		Resume: []string{"codex", "resume", "{native_id}", "-C", "{cwd}", "--disable", "daemon_auto_start", "--model", "{model}"},
		// What its wrapper would run, and wait for: the process that matters. A wrapper that is
		// killed leaves it behind.
		Native: []string{
			"../../codex-*/vendor/*/bin/codex", "../node_modules/@openai/codex-*/vendor/*/bin/codex", "../vendor/*/bin/codex",
		},
		NativeID: NativeAnnounced,
		HeldOpen: `/thread-writer-locks/([0-9a-f-]{36})\.lock$`,
		History:  home + "/sessions/*/*/*/rollout-*-{native_id}.jsonl",
		// Seen once in some 30 starts, on a machine with more to do than it could.
		StartFails: `timed out discarding buffered terminal input`,
		Settle:     300 * time.Millisecond,      // it says idle before it says that another has the conversation
		Recorded:   `"thread_source":\s*"user"`, // not a subagent's
		Ready:      ReadyAnnounced,
		Prompt:     PromptSend,
		Identity:   []string{"CODEX_HOME"},
		Signs: []Sign{
			{On: OnStatus, Match: `^state=(idle|done)\b`, Turn: "idle", Ready: true},
			{On: OnStatus, Match: `^state=working\b`, Turn: "busy"},
			{On: OnStatus, Match: `^state=blocked\b`, Turn: "waiting", For: "an approval"},
			{On: OnScreen, Match: `This conversation is open in another app`, Turn: "blocked", For: "another codex with this conversation to end", Elsewhere: true},
			{On: OnScreen, Match: `Sign in with ChatGPT`, Turn: "blocked", For: "a login"},
			{On: OnScreen, Match: `Trust this folder\?|Do you trust`, Turn: "blocked", For: "trust in the directory"},
			{On: OnScreen, Match: `Hooks need review`, Turn: "blocked", For: "a review of its hooks"},
			{On: OnScreen, Match: `Use session directory`, Turn: "blocked", For: "a choice of the directory"},
		},
		Stop:   Stop{Keys: "\x03", Signal: "TERM"}, // ctrl-C gives the terminal back as it was, TERM does not
		Submit: Submit{Keys: defaultSubmit},
	}
}

// gemini shows its state in its title. Its start-up may take a conversation that was
// resumed and not spoken to for a damaged one, and delete it, unless retention is off;
// the wrapper that starts it a second time swallows SIGTERM.
func gemini() Provider {
	return Provider{
		Name: "gemini", Tried: "0.61.0",
		Start:    []string{"gemini", "--session-id", "{native_id}", "--model", "{model}"},
		Resume:   []string{"gemini", "--resume", "{native_id}", "--model", "{model}"},
		NativeID: NativeChosen,
		// Its box is there before its first question, and 0.4 s before it begins to resume,
		// and loses what is typed until then.
		Settle:        500 * time.Millisecond,
		SettleResumed: 2 * time.Second,
		History:       "{env:GEMINI_CLI_HOME|~}/.gemini/tmp/*/chats/session-*-{native_id8}.jsonl",
		Recorded:      `(?s)"sessionId":\s*"{native_id}".*"type":\s*"gemini"`,
		Ready:         ReadyAnnounced,
		Prompt:        PromptSend,
		Identity:      []string{"GEMINI_CLI_HOME", "GOOGLE_CLOUD_PROJECT"},
		Env:           map[string]string{"GEMINI_CLI_NO_RELAUNCH": "true"},
		Files: []File{{
			Name: "gemini-settings.json", Content: `{"general":{"sessionRetention":{"enabled":false}}}` + "\n",
			Env: "GEMINI_CLI_SYSTEM_SETTINGS_PATH", Value: "{file}", Unless: "/etc/gemini-cli/settings.json",
		}},
		Signs: []Sign{
			{On: OnScreen, Match: `Resuming session`, Turn: "busy"},
			{On: OnTitle, Match: `^◇`, Turn: "idle"}, // which it says before it takes any
			{On: OnScreen, Match: `> .*Type your message`, Turn: "idle", Ready: true},
			{On: OnTitle, Match: `^✦`, Turn: "busy"},
			{On: OnTitle, Match: `^✋`, Turn: "waiting", For: "an approval"},
			{On: OnScreen, Match: `Do you trust (this folder|the files in this folder)`, Turn: "blocked", For: "trust in the directory"},
			{On: OnScreen, Match: `How would you like to authenticate|Enter Gemini API Key`, Turn: "blocked", For: "a login"},
		},
		Stop:   Stop{Signal: "TERM"},
		Submit: Submit{Keys: defaultSubmit, Delay: geminiPause, Again: 2}, // Enter at once would be a new line
	}
}

// opencode has no id before its first message. A plugin of ours, given to it for this
// process only, announces it and what it does.
func opencode() Provider {
	return Provider{
		Name: "opencode", Tried: "1.18.33",
		Start:    []string{"opencode", "--model", "{model}"},
		Resume:   []string{"opencode", "-s", "{native_id}", "--model", "{model}"},
		NativeID: NativeAnnounced,
		LateID:   true,
		History:  HistoryAnnounced,
		Ready:    ReadyAnnounced,
		Prompt:   PromptSend,
		Identity: []string{"XDG_DATA_HOME", "OPENCODE_DB", "OPENCODE_CONFIG"},
		Signs: []Sign{
			{On: OnScreen, Match: `ctrl\+p commands`, Turn: "idle", Ready: true}, // what is typed before its box is painted is lost
		},
		Files: []File{{
			Name: "berth.js", Content: opencodePlugin,
			Env: "OPENCODE_CONFIG_CONTENT", Value: `{"plugin":["file://{file}"]}`,
		}},
		Stop:   Stop{Signal: "TERM"},
		Submit: Submit{Keys: defaultSubmit},
	}
}

// geminiPause is between a message and its Enter: sooner, gemini takes that for a new
// line (seen at 0 s; 0.5 s was enough).
const geminiPause = 600 * time.Millisecond

// amended is p with what a person's table of the same name says. A table with a start
// of its own takes p's place.
func (p Provider) amended(table Provider) Provider {
	if len(table.Start) > 0 {
		return table
	}
	p.Args = table.Args
	p.Identity = append(p.Identity, table.Identity...)
	p.Scrub = append(p.Scrub, table.Scrub...)
	if len(table.Env) > 0 {
		env := maps.Clone(table.Env)
		maps.Copy(env, p.Env) // what switches a hazard off stays
		p.Env = env
	}
	return p
}

// isAgent reports whether an agent that berth knows is called name.
func isAgent(name string) bool {
	return slices.ContainsFunc(agents(), func(p Provider) bool { return p.Name == name })
}
