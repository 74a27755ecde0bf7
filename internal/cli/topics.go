package cli

import (
	"embed"
	"strings"
)

//go:embed topics/*.txt
var topics embed.FS

// topicNames are the help topics that are no command.
func topicNames() []string {
	entries, err := topics.ReadDir("topics")
	if err != nil {
		panic("internal error: the help topics are not embedded: " + err.Error())
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".txt"))
	}
	return names
}

// topic is the text of a help topic, or "" if there is none of that name.
func topic(name string) string {
	text, err := topics.ReadFile("topics/" + name + ".txt")
	if err != nil {
		return "" // embedded: it can only be a name that is none
	}
	return string(text)
}
