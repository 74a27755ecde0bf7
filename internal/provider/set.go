package provider

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"berth/internal/session"
)

// Demo is the name of the built-in provider.
const Demo = "demo"

// Config is what config.toml says besides its providers.
type Config struct {
	// Spare are names of programs that stopping an agent leaves alone.
	Spare []string
	// KeepPane lets an agent run on when its tmux pane is closed by hand.
	KeepPane bool
}

// Set is the providers of one configuration. It is read-only after Load, and safe
// for concurrent use.
type Set struct {
	Config
	providers map[string]Provider
	broken    error // why the configuration cannot be read, else nil
}

// Broken is the set of a configuration that cannot be read, for err: it has no
// provider to start, and says why. What runs can be looked at and stopped with it.
func Broken(err error) Set { return Set{Config: Config{Spare: defaultSpare}, broken: err} }

// Err is why the configuration cannot be read, else nil.
func (s Set) Err() error { return s.broken }

// Load reads config.toml at configPath and adds the built-in provider, whose program
// is demoArgv0: the absolute path of berth. A missing file is an empty one. An error
// is a session.Error of class Usage that names file and line and what to write.
func Load(configPath, demoArgv0 string) (Set, error) {
	data, err := os.ReadFile(configPath)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Set{}, session.Errorf(session.Usage, "cannot read the configuration: %w", err)
	}
	set, err := decode(configPath, data)
	if err != nil {
		return Set{}, err
	}
	set.providers[Demo] = demo(demoArgv0)
	for _, p := range agents() {
		set.providers[p.Name] = p.amended(set.providers[p.Name])
	}
	return set, nil
}

// demo is the adapter of the chat in package demo.
func demo(argv0 string) Provider {
	berth := strings.NewReplacer("{", "{{", "}", "}}").Replace(argv0)
	return Provider{
		Name:     Demo,
		Start:    []string{berth, "demo-agent", "--session-id={native_id}", "--model={model}"},
		Resume:   []string{berth, "demo-agent", "--resume={native_id}", "--model={model}"},
		NativeID: NativeChosen,
		History:  HistoryAnnounced,
		Ready:    ReadyAnnounced,
		Prompt:   PromptSend,
		Identity: []string{"DEMO_AGENT_HOME"},
		Stop:     Stop{Signal: "TERM"},
		Submit:   Submit{Keys: defaultSubmit},
	}
}

// Names are the names of all providers, sorted.
func (s Set) Names() []string { return sortedKeys(s.providers) }

// Get returns the provider called name; if there is none, a session.Error of class
// Usage that lists those there are.
func (s Set) Get(name string) (Provider, error) {
	if s.broken != nil {
		return Provider{}, s.broken
	}
	if p, ok := s.providers[name]; ok {
		return p, nil
	}
	hint := fmt.Sprintf("known are %s; others are [provider.NAME] tables of config.toml", strings.Join(s.Names(), ", "))
	if near := nearest(name, s.Names()); near != "" {
		hint = fmt.Sprintf("did you mean %s? %s", near, hint)
	}
	return Provider{}, session.Errorf(session.Usage, "there is no provider %q", name).WithHint("%s", hint)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
