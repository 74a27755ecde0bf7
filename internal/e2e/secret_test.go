//go:build linux

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/term"
)

// watchArgv looks at the argv of every process on the machine, over and over, until
// the function it returns is called, which says where one of the marks was seen. This
// very process does not count.
func watchArgv(t *testing.T, marks ...string) (seen func() []string) {
	t.Helper()
	found := map[string]bool{}
	enough, done := make(chan struct{}), make(chan struct{})
	self := strconv.Itoa(os.Getpid())
	go func() {
		defer close(done)
		for {
			select {
			case <-enough:
				return
			default:
			}
			paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
			for _, p := range paths {
				argv, err := os.ReadFile(p)
				if err != nil || strings.Split(p, "/")[2] == self {
					continue
				}
				for _, m := range marks {
					if bytes.Contains(argv, []byte(m)) {
						found[m+" in "+strings.ReplaceAll(string(argv[:min(len(argv), 300)]), "\x00", " ")] = true
					}
				}
			}
		}
	}()
	stop := sync.OnceFunc(func() { close(enough); <-done })
	t.Cleanup(stop)
	return func() (out []string) {
		stop()
		for f := range found {
			out = append(out, f)
		}
		return out
	}
}

func init() { roles["blabber"] = blabber }

// blabber is an agent that says what it must not, and fails: the variable API_TOKEN,
// and what is typed to it until "go". With a file as its second argument it keeps
// there what it was told; resumed it says only that.
func blabber(args []string) int {
	if len(args) > 0 && args[0] == "resume" {
		told, err := os.ReadFile(args[1])
		fmt.Printf("blabber> once more: %s %v\r\n", bytes.ReplaceAll(told, []byte("\r"), []byte("\r\n")), err)
		return 3
	}
	if _, err := term.MakeRaw(0); err != nil {
		return 96
	}
	fmt.Print("blabber> ")
	var heard []byte
	buf := make([]byte, 4096)
	for !bytes.Contains(heard, []byte("go")) {
		n, err := os.Stdin.Read(buf)
		if err != nil {
			return 98
		}
		heard = append(heard, buf[:n]...)
	}
	if len(args) > 1 {
		if err := os.WriteFile(args[1], heard, 0o600); err != nil {
			return 98
		}
	}
	token := os.Getenv("API_TOKEN")
	fmt.Printf("\r\nheard %s\r\n%sit is %s\r\n| %s |\r\n| %s |\r\n", bytes.ReplaceAll(heard, []byte("\r"), []byte("\r\n")),
		strings.Repeat(".", 110), token, token[:9], token[9:])
	return 3
}

// Secrets of opening request and environment are nowhere but where they belong: in
// the registry and in the agent's own history. Not in an argv, not in a file of the
// home, not in tmux, not in anything that berth says.
func TestSecretsStayWhereTheyBelong(t *testing.T) {
	t.Parallel()
	const (
		promptSecret = "prompt-secret-5f1c9a7e3b"
		envSecret    = "env-secret-0d82e6b4c97a15"
		hidden       = "only-in-the-environment-7731"
		identity     = "identity-value-4410"
	)
	w := newWorld(t)
	w.env = append(w.env, "API_TOKEN="+envSecret, "UNREMARKABLE="+hidden, "AGENT_HOME="+identity, "DEMO_AGENT_HOME="+filepath.Join(filepath.Dir(w.home), "demo"))
	w.config(fmt.Sprintf("[provider.blabber]\nstart = %s\nready = \"output:blabber> \"\nidentity = [\"AGENT_HOME\"]\n[provider.missing]\nstart = [\"no-such-program\", \"{prompt}\"]\n",
		tomlArray(roleArgv("blabber"))))
	request := []byte("a harmless title\nthe password is " + promptSecret + " and go")
	seen := watchArgv(t, promptSecret, envSecret, hidden)
	var said strings.Builder
	note := func(r result) result {
		said.WriteString(fmt.Sprintf("berth %v: %s%s\n", r.args, r.out, r.errOut))
		return r
	}

	// A whole life.
	r := note(w.runWith(nil, request, "new", "demo", "--prompt-file", "-", "--json").want(0)).record()
	note(w.run("list").want(0))
	note(w.run("show", r.ID).want(0))
	note(w.run("show", r.ID, "--json").want(0))
	x := w.open("open", r.ID)
	x.waitFor(promptSecret) // on the screen it is, where the person typed it
	x.typeIn("\x1c")
	x.wait()
	note(w.run("restart", r.ID, "--json").want(0))
	environment := w.tmuxEnvironment()
	note(w.run("doctor"))
	note(w.run("stop", r.ID).want(0))
	note(w.run("restart", r.ID).want(0))
	w.eventually("the first pid is known", func() bool { return w.show(r.ID).Client != nil })
	note(w.run("complete", r.ID, "--json").want(0))

	// Failures.
	note(w.runWith(nil, request, "new", "missing", "--prompt-file", "-"))
	failed := note(w.runWith(nil, request, "new", "blabber", "--prompt-file", "-"))
	if !slices.Contains([]int{0, 1}, failed.code) {
		t.Errorf("blabber: exit %d", failed.code)
	}
	note(w.run("list", "--all", "--json").want(0))
	var lastScreen []byte
	w.eventually("the last screen", func() bool {
		paths, _ := filepath.Glob(filepath.Join(w.home, "runs", "*", "*", "last-screen.txt"))
		for _, p := range paths {
			if data, _ := os.ReadFile(p); bytes.Contains(data, []byte("blabber>")) {
				lastScreen = data
			}
		}
		return lastScreen != nil
	})
	if !bytes.Contains(lastScreen, []byte("[masked]")) || !bytes.Contains(lastScreen, []byte("it is")) {
		t.Errorf("the last screen: %s", lastScreen)
	}

	for _, s := range seen() {
		t.Error("in an argv:", s)
	}
	for _, secret := range []string{promptSecret, envSecret, hidden, envSecret[9:], promptSecret[10:]} {
		if strings.Contains(said.String(), secret) {
			t.Errorf("berth said %s:\n%s", secret, said.String())
		}
		if strings.Contains(environment, secret) {
			t.Errorf("tmux has %s:\n%s", secret, environment)
		}
	}
	w.wantPrivate()
	inRegistry := false
	for path, data := range w.files() {
		name := filepath.Base(path)
		if strings.HasPrefix(name, "berth.db") {
			inRegistry = inRegistry || bytes.Contains(data, []byte(promptSecret))
			for _, secret := range []string{envSecret, hidden, identity} {
				if bytes.Contains(data, []byte(secret)) {
					t.Errorf("%s holds %s", path, secret)
				}
			}
			continue
		}
		for _, secret := range []string{promptSecret, envSecret, hidden, envSecret[9:], promptSecret[10:]} {
			if bytes.Contains(data, []byte(secret)) {
				t.Errorf("%s holds %s", path, secret)
			}
		}
		if bytes.Contains(data, []byte(identity)) && name != "manifest.json" {
			t.Errorf("%s holds the identity", path)
		}
		if name == "manifest.json" && bytes.Contains(data, []byte(`"provider": "blabber"`)) && !bytes.Contains(data, []byte(identity)) {
			t.Errorf("%s lacks the identity", path)
		}
	}
	if !inRegistry {
		t.Error("the registry lacks the opening request: this test looks in the wrong place")
	}
}

// A second client of a conversation shows the request again, which is masked all the
// same when it fails.
func TestSecretsOfAResumedConversationAreMasked(t *testing.T) {
	t.Parallel()
	const promptSecret = "prompt-secret-5f1c9a7e3b"
	w := newWorld(t)
	history := filepath.Join(filepath.Dir(w.home), "history")
	w.config(fmt.Sprintf("[provider.blabber]\nstart = %s\nresume = %s\nnative_id = \"chosen\"\nready = \"output:blabber> \"\n",
		tomlArray(roleArgv("blabber", "start", history, "{native_id}")), tomlArray(roleArgv("blabber", "resume", history, "{native_id}"))))
	w.env = append(w.env, "API_TOKEN=of-no-matter-here")
	r := w.runWith(nil, []byte("a title\nthe password is "+promptSecret+" and go"), "new", "blabber", "--prompt-file", "-", "--json").record()
	path := filepath.Join(w.runDir(r), "last-screen.txt")
	for _, says := range []string{"heard", "once more"} {
		var data []byte
		w.eventually("the last screen that says "+says, func() bool { data, _ = os.ReadFile(path); return bytes.Contains(data, []byte(says)) })
		if bytes.Contains(data, []byte(promptSecret)) || !bytes.Contains(data, []byte("[masked]")) {
			t.Errorf("%s", data)
		}
		w.run("restart", r.ID)
	}
}

// files are the contents of the home's files.
func (w *world) files() map[string][]byte {
	w.t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(w.home, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		if data, err := os.ReadFile(path); err == nil { // else gone since
			out[path] = data
		}
		return nil
	})
	if err != nil || len(out) == 0 {
		w.t.Fatalf("no files in %s: %v", w.home, err)
	}
	return out
}
