package provider

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"berth/internal/session"
)

// defaultSubmit is what most agents take for "send it".
const defaultSubmit = "\r"

// defaultSpare are the programs an agent may start that serve more than the agent.
var defaultSpare = []string{"tmux", "gpg-agent", "ssh-agent", "dockerd"}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// tables are the top-level tables of config.toml. Those other packages own are not
// looked into here.
var tables = []string{"provider", "stop", "tmux", "notify", "close"}

// providerKeys are the keys of a [provider.NAME] table.
var providerKeys = []string{"start", "resume", "native_id", "history", "ready", "prompt",
	"identity", "env", "scrub", "stop_keys", "stop_signal", "submit_keys", "submit_delay"}

// decode makes a Set of the bytes of config.toml.
func decode(path string, data []byte) (Set, error) {
	d, err := parseDocument(path, data)
	if err != nil {
		return Set{}, err
	}
	set := Set{Config: Config{Spare: defaultSpare}, providers: map[string]Provider{}}
	d.known(nil, d.tree, tables)
	for _, name := range tables {
		if v, ok := d.tree[name]; ok {
			if _, ok := v.(map[string]any); !ok {
				d.wrong([]string{name}, "write ["+name+"] on a line of its own and its keys below", "%s is not a table", name)
			}
		}
	}
	stop, _ := d.tree["stop"].(map[string]any)
	s := section{d, []string{"stop"}, stop}
	d.known(s.keys, stop, []string{"spare"})
	if list, ok := s.words("spare"); ok {
		set.Spare = list
	}
	closing, _ := d.tree["close"].(map[string]any)
	s = section{d, []string{"close"}, closing}
	d.known(s.keys, closing, []string{"pane"})
	switch v := s.word("pane", "stop"); v {
	case "stop", "keep":
		set.KeepPane = v == "keep"
	default:
		s.wrong("pane", `write pane = "stop" or pane = "keep"`, "%q is nothing that closing a pane can do", v)
	}
	providers, _ := d.tree["provider"].(map[string]any)
	for _, name := range sortedKeys(providers) {
		table, ok := providers[name].(map[string]any)
		if !ok {
			d.wrong([]string{"provider", name}, "write [provider.NAME] and its keys below", "provider.%s is not a table", name)
			continue
		}
		set.providers[name] = section{d, []string{"provider", name}, table}.provider(name)
	}
	return set, d.err()
}

// known refuses keys of a table that nobody reads.
func (d *document) known(at []string, table map[string]any, names []string) {
	for _, k := range sortedKeys(table) {
		if slices.Contains(names, k) {
			continue
		}
		hint := "the keys here are " + strings.Join(names, ", ")
		if near := nearest(k, names); near != "" {
			hint = "did you mean " + near + "? " + hint
		}
		d.wrong(append(slices.Clone(at), k), hint, "unknown key %q", k)
	}
}

// section is one table of a document.
type section struct {
	*document
	keys  []string
	table map[string]any
}

func (s section) wrong(key, hint, format string, args ...any) {
	s.document.wrong(append(slices.Clone(s.keys), key), hint, format, args...)
}

// word is the string value of key, or unset.
func (s section) word(key, unset string) string {
	switch v := s.table[key].(type) {
	case nil:
		return unset
	case string:
		return v
	default:
		s.wrong(key, `write `+key+` = "…"`, "%s is not a string", key)
		return unset
	}
}

// words is the value of key, an array of strings; ok is false if there is none.
func (s section) words(key string) (list []string, ok bool) {
	v, ok := s.table[key]
	if !ok {
		return nil, false
	}
	array, ok := v.([]any)
	if !ok {
		s.wrong(key, `write `+key+` = ["…", "…"]`, "%s is not an array of strings", key)
		return nil, false
	}
	list = make([]string, 0, len(array))
	for i, e := range array {
		w, ok := e.(string)
		if !ok {
			s.wrong(key, `write every element in double quotes: ["…", "…"]`, "element %d of %s is not a string", i+1, key)
			return nil, false
		}
		list = append(list, w)
	}
	return list, true
}

// argv is the value of key, a command. A string is refused: berth has no shell.
func (s section) argv(key string) []string {
	if line, ok := s.table[key].(string); ok {
		example := `["sh", "-c", "…"]`
		if words := strings.Fields(line); len(words) > 0 && !strings.ContainsAny(line, "'\"\\$&|;<>()`*?~\n") {
			example = `["` + strings.Join(words, `", "`) + `"]`
		}
		s.wrong(key, "write one argument per element: "+key+" = "+example+`; where a shell is needed: ["sh", "-c", "…"]`,
			"%s is a string, and berth runs commands without a shell", key)
		return nil
	}
	list, ok := s.words(key)
	if ok && (len(list) == 0 || list[0] == "") {
		s.wrong(key, `begin with the program: `+key+` = ["agent", "…"]`, "%s names no program", key)
	}
	return list
}

// provider is the adapter a table describes.
func (s section) provider(name string) Provider {
	if _, own := s.table["start"]; isAgent(name) && !own {
		s.known(s.keys, s.table, []string{"args", "identity", "env", "scrub", "start"})
		p := Provider{Name: name, Env: s.env()}
		p.Args, _ = s.words("args")
		p.Identity, _ = s.words("identity")
		p.Scrub, _ = s.words("scrub")
		s.checkEnvironment(p)
		return p
	}
	s.known(s.keys, s.table, providerKeys)
	p := Provider{
		Name:     name,
		Start:    s.argv("start"),
		Resume:   s.argv("resume"),
		NativeID: s.word("native_id", NativeNone),
		Ready:    s.word("ready", ""),
		Prompt:   s.word("prompt", ""),
		Env:      s.env(),
		Stop:     Stop{Keys: s.word("stop_keys", ""), Signal: strings.TrimPrefix(s.word("stop_signal", "TERM"), "SIG")},
		Submit:   Submit{Keys: s.word("submit_keys", defaultSubmit), Delay: s.duration("submit_delay")},
	}
	p.Identity, _ = s.words("identity")
	p.Scrub, _ = s.words("scrub")
	p.History = s.word("history", "")
	if _, said := s.table["history"]; !said && p.NativeID == NativeAnnounced {
		p.History = HistoryAnnounced
	}
	if p.Ready == "" {
		p.Ready = ReadyStart
		if p.NativeID == NativeAnnounced {
			p.Ready = ReadyAnnounced
		}
	}
	if p.Prompt == "" {
		p.Prompt = PromptSend
		if slices.ContainsFunc(p.Start, func(t string) bool { return mentions(t, "prompt") }) {
			p.Prompt = PromptArgv
		}
	}
	s.check(p)
	return p
}

func (s section) env() map[string]string {
	switch v := s.table["env"].(type) {
	case nil:
		return nil
	case map[string]any:
		env := section{s.document, append(slices.Clone(s.keys), "env"), v}
		out := make(map[string]string, len(v))
		for _, name := range sortedKeys(v) {
			out[name] = env.word(name, "")
		}
		return out
	default:
		s.wrong("env", `write env = { NAME = "value" }`, "env is not a table")
		return nil
	}
}

func (s section) duration(key string) time.Duration {
	w := s.word(key, "0s")
	d, err := time.ParseDuration(w)
	if err != nil || d < 0 || d > maxSubmitDelay {
		s.wrong(key, `write a time up to `+maxSubmitDelay.String()+`, such as "300ms"`, "%s = %q is not a time to wait", key, w)
		return 0
	}
	return d
}

// maxSubmitDelay keeps a slip of the unit from looking like a hang.
const maxSubmitDelay = 10 * time.Second

// nameOK reports whether a provider can be called name.
func nameOK(name string) bool {
	return session.ValidName(name) && !strings.HasPrefix(name, "-")
}
