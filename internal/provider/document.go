package provider

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"berth/internal/session"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// document is a TOML file with the line of each of its keys, so that whatever is
// wrong with a value can be told where it stands.
type document struct {
	path     string
	tree     map[string]any
	lines    map[string]int // by keyOf
	problems []problem
}

// problem is one thing wrong: what, where, and what to write instead.
type problem struct {
	line       int
	what, hint string
}

func keyOf(keys []string) string { return strings.Join(keys, "\x00") }

// parseDocument reads data; a syntax error is a session.Error with its line.
func parseDocument(path string, data []byte) (*document, error) {
	d := &document{path: path, lines: map[string]int{}}
	err := toml.Unmarshal(data, &d.tree)
	var syntax *toml.DecodeError
	if errors.As(err, &syntax) {
		row, _ := syntax.Position()
		d.problems = append(d.problems, problem{row, strings.TrimPrefix(syntax.Error(), "toml: "),
			"correct the TOML of this line (https://toml.io); words are written in double quotes"})
		return nil, d.err()
	}
	if err != nil {
		return nil, session.Errorf(session.Usage, "cannot read %s: %w", path, err)
	}
	d.index(data)
	return d, nil
}

// index notes the line of every key. The document has been parsed once already, so
// there are no errors to meet.
func (d *document) index(data []byte) {
	var p unstable.Parser
	p.Reset(data)
	var table []string
	for p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = d.note(data, nil, e.Key())
		case unstable.KeyValue:
			d.noteValue(data, table, e)
		}
	}
}

func (d *document) noteValue(data []byte, table []string, kv *unstable.Node) {
	key := d.note(data, table, kv.Key())
	if v := kv.Value(); v.Kind == unstable.InlineTable {
		for it := v.Children(); it.Next(); {
			if n := it.Node(); n.Kind == unstable.KeyValue {
				d.noteValue(data, key, n)
			}
		}
	}
}

// note records the line of each step of a dotted key under table, and returns the
// whole key. The first mention of a key is its line.
func (d *document) note(data []byte, table []string, key unstable.Iterator) []string {
	keys := slices.Clone(table)
	for key.Next() {
		n := key.Node()
		keys = append(keys, string(n.Data))
		if k := keyOf(keys); d.lines[k] == 0 {
			d.lines[k] = 1 + bytes.Count(data[:n.Raw.Offset], []byte("\n"))
		}
	}
	return keys
}

// wrong notes a problem with the value of a key, or of the nearest key around it
// that has a line.
func (d *document) wrong(keys []string, hint, format string, args ...any) {
	line := 0
	for ; line == 0 && len(keys) > 0; keys = keys[:len(keys)-1] {
		line = d.lines[keyOf(keys)]
	}
	d.problems = append(d.problems, problem{max(line, 1), fmt.Sprintf(format, args...), hint})
}

// err is the first problem in the order of the file, or nil.
func (d *document) err() error {
	if len(d.problems) == 0 {
		return nil
	}
	p := slices.MinFunc(d.problems, func(a, b problem) int { return a.line - b.line })
	return session.Errorf(session.Usage, "%s:%d: %s", d.path, p.line, p.what).WithHint("%s", p.hint)
}

// nearest is the known word that s is most likely a mistyped form of, or "".
func nearest(s string, known []string) string {
	best, limit := "", max(1, len(s)/3)
	for _, k := range known {
		if n := distance(s, k); n <= limit {
			best, limit = k, n-1
		}
	}
	return best
}

// distance is the number of bytes to insert, remove or replace to make a of b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
