//go:build linux

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/term"
)

// The byte agent writes down, byte for byte, what it was started with and what is
// typed into its raw terminal.

func init() { roles["bytes"] = byteAgent }

// birth is what a byte agent was started with.
type birth struct {
	Args, Env [][]byte
	Cwd       []byte
}

func byteAgent(args []string) int {
	dir := args[0]
	cwd, _ := os.Getwd()
	b := birth{Cwd: []byte(cwd)}
	for _, a := range args[1:] {
		b.Args = append(b.Args, []byte(a))
	}
	for _, kv := range os.Environ() {
		b.Env = append(b.Env, []byte(kv))
	}
	data, err := json.Marshal(b)
	if err != nil {
		return 98
	}
	if _, err := term.MakeRaw(0); err != nil {
		return 96
	}
	typed, err := os.OpenFile(filepath.Join(dir, "typed"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return 98
	}
	if err := os.WriteFile(filepath.Join(dir, "birth.tmp"), data, 0o600); err != nil {
		return 98
	}
	if err := os.Rename(filepath.Join(dir, "birth.tmp"), filepath.Join(dir, "birth")); err != nil {
		return 98
	}
	fmt.Print("\x1b[?2004hready> ")
	buf := make([]byte, 64<<10)
	for {
		n, err := os.Stdin.Read(buf)
		if err != nil {
			return 0
		}
		if _, err := typed.Write(buf[:n]); err != nil {
			return 98
		}
	}
}

// byteAgent makes the byte agent a provider with more arguments and more lines of
// configuration, and returns where it writes.
func (w *world) byteAgent(args []string, more ...string) (dir string) {
	w.t.Helper()
	dir = filepath.Join(filepath.Dir(w.home), "bytes")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	w.config(fmt.Sprintf("[provider.bytes]\nstart = %s\nready = \"output:ready> \"\n%s\n",
		tomlArray(roleArgv("bytes", append([]string{dir}, args...)...)), strings.Join(more, "\n")))
	return dir
}

// tomlArray writes words as TOML: JSON's strings are TOML's, but for DEL.
func tomlArray(words []string) string {
	var quoted []string
	for _, w := range words {
		b, err := json.Marshal(w)
		if err != nil {
			panic(err)
		}
		quoted = append(quoted, strings.ReplaceAll(string(b), "\x7f", `\u007f`))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// born waits for what the byte agent was started with.
func (w *world) born(dir string) (b birth) {
	w.t.Helper()
	w.eventually("the agent's birth", func() bool {
		data, err := os.ReadFile(filepath.Join(dir, "birth"))
		return err == nil && json.Unmarshal(data, &b) == nil
	})
	return b
}

// oddArgs are arguments that a shell, tmux or a template would spoil.
var oddArgs = []string{
	"", " ", "-", "--", "-x", "--flag=value with blanks", `it's "quoted"`, "back\\slash", "two\nlines\r\n", "\ttab", "x;", ";", `\;`,
	"#{pane_id}", "#(id)", "%1", "$HOME", "$(id)", "`id`", "${X:-y}", "*", "~", "a{b", "é漢🙂", "\x1b[31m", "\x7f",
}

// odd is n bytes with every value in them but the brackets of a paste, begun by a
// mark that finds it anywhere.
func odd(mark string, n int) []byte {
	out := []byte(mark + "\n")
	for i := 0; len(out) < n; i++ {
		out = append(out, byte(i), byte(i>>8), byte(i*7))
	}
	return bytes.ReplaceAll(out, []byte("[20"), []byte("(20"))
}

// A megabyte of odd bytes typed as the opening request, two hundred odd variables,
// odd arguments and an odd directory arrive byte for byte, and nothing of request and
// environment is in any process's argv.
func TestBytesArrive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const promptMark, envMark = "mark-of-the-prompt", "mark-of-the-environment"
	var templates []string
	for _, a := range oddArgs {
		templates = append(templates, strings.ReplaceAll(strings.ReplaceAll(a, "{", "{{"), "}", "}}"))
	}
	dir := w.byteAgent(templates)
	cwd := filepath.Join(w.cwd, "it's an \"odd\" #{dir} $HOME;\xff")
	if err := os.Mkdir(cwd, 0o700); err != nil {
		t.Fatal(err)
	}
	var env []string
	for i := range 200 {
		env = append(env, fmt.Sprintf("ODD_%d=%s", i, strings.ReplaceAll(string(odd(envMark, i*17)), "\x00", "")))
	}
	env = append(env, "ODD_EMPTY=", "ODD%NAME()=x", "ODD_QUOTES='\"`$(id)`\"';", "ODD_LINES=a\nb\n")
	prompt := odd(promptMark, 1<<20)
	seen := watchArgv(t, promptMark, envMark)
	r := w.runWith(env, prompt, "new", "bytes", "--cwd", cwd, "--prompt-file", "-", "--json").want(0).record()

	b := w.born(dir)
	if string(b.Cwd) != cwd {
		t.Errorf("directory %q, want %q", b.Cwd, cwd)
	}
	if len(b.Args) != len(oddArgs) {
		t.Fatalf("%d arguments, want %d", len(b.Args), len(oddArgs))
	}
	for i, a := range oddArgs {
		if string(b.Args[i]) != a {
			t.Errorf("argument %d: %q, want %q", i, b.Args[i], a)
		}
	}
	for _, kv := range env {
		if !slices.ContainsFunc(b.Env, func(got []byte) bool { return string(got) == kv }) {
			t.Errorf("variable lost: %.60q", kv)
		}
	}
	want := append(append([]byte("\x1b[200~"), prompt...), "\x1b[201~\r"...)
	var typed []byte
	w.eventually("the whole request", func() bool {
		typed, _ = os.ReadFile(filepath.Join(dir, "typed"))
		return len(typed) >= len(want)
	})
	if !bytes.Equal(typed, want) {
		t.Errorf("typed %d bytes, want %d; they differ at %d", len(typed), len(want), firstDifference(typed, want))
	}
	w.run("stop", r.ID).want(0)
	for _, s := range seen() {
		t.Error("in an argv:", s)
	}
}

// A provider that takes its request as an argument gets it byte for byte, and no
// other process has it.
func TestBytesArriveAsAnArgument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const mark = "mark-of-the-prompt"
	dir := w.byteAgent([]string{"--prompt={prompt}"}, `prompt = "argv"`)
	prompt := bytes.ReplaceAll(odd(mark, 100_000), []byte{0}, nil)
	seen := watchArgv(t, mark)
	r := w.runWith(nil, prompt, "new", "bytes", "--prompt-file", "-", "--json").want(0).record()
	if b := w.born(dir); len(b.Args) != 1 || string(b.Args[0]) != "--prompt="+string(prompt) {
		t.Errorf("%d arguments", len(b.Args))
	}
	w.run("stop", r.ID).want(0)
	if typed, err := os.ReadFile(filepath.Join(dir, "typed")); err != nil || len(typed) > 0 {
		t.Errorf("typed as well: %.40q, %v", typed, err)
	}
	for _, s := range seen() {
		if !strings.Contains(s, dir) { // the agent, or /usr/bin/env becoming it
			t.Error("in another's argv:", s)
		}
	}
}

// An argument can be 128 KiB at most: that is the kernel's word, told at once.
func TestARequestTooLongForAnArgument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.byteAgent([]string{"{prompt}"}, `prompt = "argv"`)
	res := w.runWith(nil, bytes.Repeat([]byte("x"), 1<<20), "new", "bytes", "--prompt-file", "-").want(1)
	if !strings.Contains(res.errOut, "argument list too long") || len(res.errOut) > 4000 {
		t.Errorf("said %.500s", res.errOut)
	}
	w.eventually("no supervisor is left", func() bool {
		return !slices.ContainsFunc(marked("BERTH_HOME="+w.home), func(p string) bool { return strings.Contains(p, "supervise") })
	})
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}
