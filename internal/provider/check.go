package provider

import (
	"regexp"
	"slices"
	"strings"
)

// check notes what is wrong with a provider as a whole: the rules a Provider obeys
// after Load.
func (s section) check(p Provider) {
	if !nameOK(p.Name) {
		s.wrong("", "use letters, digits, dot, dash and underscore, at most 64: [provider.my-agent]", "%q cannot be the name of a provider", p.Name)
	}
	if p.Name == Demo {
		s.wrong("", "call yours something else: [provider.my-demo]", "demo is built in")
	}
	if _, ok := s.table["start"]; !ok {
		s.wrong("", `write start = ["agent", "…"]`, "provider %s has no start", p.Name)
	}
	s.checkArgv("start", p.Start)
	s.checkArgv("resume", p.Resume)
	s.checkIdentity(p)
	s.checkReady(p)
	s.checkPrompt(p)
	s.checkEnvironment(p)
	if signals[p.Stop.Signal] == 0 {
		s.wrong("stop_signal", "write one of "+strings.Join(sortedKeys(signals), ", ")+"; berth ends what does not answer it with KILL",
			"stop_signal = %q is not a polite signal", p.Stop.Signal)
	}
	if p.Submit.Keys == "" {
		s.wrong("submit_keys", `write submit_keys = "\r" for Enter, or leave it out`, "submit_keys is empty")
	}
}

func (s section) checkArgv(key string, argv []string) {
	for i, t := range argv {
		if _, err := parse(t, argvNames); err != nil {
			s.wrong(key, `an element of `+key+` looks like "--id={native_id}"`, "%s, element %d, %q: %v", key, i+1, t, err)
		}
		if strings.ContainsRune(t, 0) {
			s.wrong(key, "leave it out", "%s, element %d has a NUL byte", key, i+1)
		}
	}
}

// checkIdentity is the rule that a conversation is never guessed: whoever resumes
// one says which.
func (s section) checkIdentity(p Provider) {
	path, isFile := strings.CutPrefix(p.NativeID, NativeFile)
	_, hasResume := s.table["resume"]
	switch {
	case isFile:
		s.checkPath("native_id", path, fileNames)
	case p.NativeID == NativeChosen || p.NativeID == NativeAnnounced:
	case p.NativeID == NativeNone:
		if hasResume {
			s.wrong("resume", `add native_id = "chosen", "announced" or "file:PATH", or leave resume out`,
				"provider %s has a resume and no native id to resume", p.Name)
		}
		if p.History != "" {
			s.wrong("history", "leave history out", "provider %s has a history and no native id", p.Name)
		}
		return
	default:
		s.wrong("native_id", `write "none", "chosen", "announced" or "file:PATH"`, "native_id = %q is none of them", p.NativeID)
		return
	}
	if !hasResume {
		s.wrong("native_id", `add resume = ["agent", "--resume", "{native_id}"], or leave native_id out`,
			"provider %s has a native id and no resume", p.Name)
	} else if !namesRun(p.Resume) {
		s.wrong("resume", "use {native_id} (or {run_dir}) in resume: the newest conversation of a directory may be another's",
			"resume does not say which conversation")
	}
	if p.NativeID == NativeChosen && !namesRun(p.Start) {
		s.wrong("start", "use {native_id} (or {run_dir}) in start", `native_id = "chosen", and start does not pass it on`)
	}
	if p.NativeID != NativeChosen && anyMentions(p.Start, "native_id") {
		s.wrong("start", `write native_id = "chosen" if the agent takes an id at start, else leave {native_id} out of start`,
			"start uses {native_id}, which nobody knows yet")
	}
	if p.History != "" && p.History != HistoryAnnounced {
		s.checkPath("history", p.History, historyNames)
	}
}

func (s section) checkPath(key, tmpl string, names []string) {
	_, err := parse(tmpl, names)
	switch {
	case err != nil:
		s.wrong(key, `write a path such as "{run_dir}/native-id"`, "%s, path %q: %v", key, tmpl, err)
	case strings.Trim(tmpl, "/ ") == "" || strings.ContainsRune(tmpl, 0):
		s.wrong(key, `write a path such as "{run_dir}/native-id"`, "%s names no file", key)
	case strings.HasPrefix(tmpl, "~") && !slices.Contains(names, "env:NAME"):
		s.wrong(key, "begin with {run_dir}/ or {cwd}/, or write the full path", "%s, path %q: ~ is not expanded here", key, tmpl)
	}
}

func (s section) checkReady(p Provider) {
	expr, isOutput := strings.CutPrefix(p.Ready, ReadyOutput)
	if isOutput {
		_, err := regexp.Compile(expr)
		if err != nil || expr == "" {
			s.wrong("ready", `write an RE2 expression after output:, such as "output:(?m)^> $"`, "ready, expression %q: %v", expr, reason(err))
		}
		return
	}
	if p.Ready != ReadyStart && p.Ready != ReadyAnnounced {
		s.wrong("ready", `write "start", "announced" or "output:REGEXP"`, "ready = %q is none of them", p.Ready)
	}
}

func reason(err error) string {
	if err == nil {
		return "it is empty"
	}
	return strings.TrimPrefix(err.Error(), "error parsing regexp: ")
}

func (s section) checkPrompt(p Provider) {
	inStart := anyMentions(p.Start, "prompt")
	switch {
	case p.Prompt != PromptSend && p.Prompt != PromptArgv:
		s.wrong("prompt", `write "send" or "argv"`, "prompt = %q is neither", p.Prompt)
	case p.Prompt == PromptArgv && !inStart:
		s.wrong("prompt", `add "{prompt}" to start, or write prompt = "send"`, `prompt = "argv", and start has no {prompt}`)
	case p.Prompt == PromptSend && inStart:
		s.wrong("prompt", `take {prompt} out of start, or write prompt = "argv"`, `prompt = "send", and start has a {prompt}`)
	}
}

func (s section) checkEnvironment(p Provider) {
	for _, name := range p.Identity {
		s.checkName("identity", name)
	}
	for _, name := range p.Scrub {
		if name != "*" {
			name = strings.TrimSuffix(name, "*")
		}
		s.checkName("scrub", name)
	}
	for _, name := range sortedKeys(p.Env) {
		env := section{s.document, append(slices.Clone(s.keys), "env"), nil}
		env.checkName(name, name)
		if strings.ContainsRune(p.Env[name], 0) {
			env.wrong(name, "leave it out", "the value of %s has a NUL byte", name)
		}
	}
}

func (s section) checkName(key, name string) {
	switch {
	case !envName.MatchString(name):
		s.wrong(key, "write a name of letters, digits and underscores, such as AGENT_HOME", "%q cannot be the name of a variable", name)
	case strings.HasPrefix(name, "BERTH_"):
		s.wrong(key, "leave it out", "%s is berth's own, and it sets it", name)
	}
}

// namesRun reports whether a command says which conversation it is about.
func namesRun(argv []string) bool {
	return anyMentions(argv, "native_id") || anyMentions(argv, "run_dir")
}

func anyMentions(argv []string, name string) bool {
	return slices.ContainsFunc(argv, func(t string) bool { return mentions(t, name) })
}
