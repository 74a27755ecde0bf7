package manifest

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// eventLines are the events; a line that is none fails the test.
func eventLines(t *testing.T, dir Dir) (out []map[string]any) {
	t.Helper()
	data, err := os.ReadFile(dir.Path("events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var e map[string]any
		if err := json.Unmarshal(line, &e); err != nil {
			t.Errorf("not an event: %q", line)
		}
		out = append(out, e)
	}
	return out
}

func TestEventsAfterATornLine(t *testing.T) {
	dir := Dir(t.TempDir())
	const whole, torn = `{"event":"first"}` + "\n", `{"event":"sec`
	if err := os.WriteFile(dir.Path("events.jsonl"), []byte(whole+torn), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"third", "fourth"} {
		if err := dir.AppendEvent(Event{Event: name}); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(dir.Path("events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	if len(lines) != 5 || lines[1] != torn || !strings.Contains(lines[2], "third") || !strings.Contains(lines[3], "fourth") || lines[4] != "" {
		t.Errorf("got %q", data)
	}
}

func TestEventsAreNotMadeWithoutARun(t *testing.T) {
	dir := Dir(t.TempDir() + "/gone")
	if err := dir.AppendEvent(Event{Event: "any"}); err == nil || !strings.Contains(err.Error(), string(dir)) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Lstat(string(dir)); err == nil {
		t.Error("the directory was made again")
	}
}

func TestEventsAreNotWrittenThroughALink(t *testing.T) {
	dir := Dir(t.TempDir())
	if err := os.WriteFile(dir.Path("other"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("other", dir.Path("events.jsonl")); err != nil {
		t.Fatal(err)
	}
	if err := dir.AppendEvent(Event{Event: "any"}); err == nil {
		t.Error("no error")
	}
}
