package provider

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// Path is where the file lies in the run directory.
func (f File) Path(runDir string) string { return filepath.Join(runDir, f.Name) }

// Variable is what f.Env has to be, where its value was was. A JSON object is merged into
// it, list by list. Anything else that a person has set stays, and so does a file that
// f would take the place of: the agent then goes without f.
func (f File) Variable(runDir, was string) string {
	value := strings.ReplaceAll(f.Value, "{file}", f.Path(runDir))
	if was == "" {
		if f.Unless != "" {
			if _, err := os.Lstat(f.Unless); err == nil {
				return ""
			}
		}
		return value
	}
	var theirs map[string]json.RawMessage
	var ours map[string][]json.RawMessage
	if json.Unmarshal([]byte(value), &ours) != nil || json.Unmarshal([]byte(was), &theirs) != nil || theirs == nil {
		return was
	}
	for key, add := range ours {
		var list []json.RawMessage
		if has, ok := theirs[key]; ok && json.Unmarshal(has, &list) != nil {
			return was
		}
		b, err := json.Marshal(append(list, add...))
		if err != nil {
			return was
		}
		theirs[key] = b
	}
	b, err := json.Marshal(theirs)
	if err != nil {
		return was
	}
	return string(b)
}
