package clients

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/session"

	"golang.org/x/sys/unix"
)

// The test binary, started with this variable, is one of the helpers below.
const helperVar = "CLIENTS_TEST_HELPER"

func TestMain(m *testing.M) {
	helpers := map[string]func(arg string){
		"actor":      func(arg string) { parseActor(arg).play() },
		"launch":     func(arg string) { parseActor(arg).start(nil) }, // the middle of a double fork
		"supervisor": supervise,
		"judge":      judge,
		"scan":       scanAsNobody,
		"leaderless": leaderless,
	}
	if helper := helpers[os.Getenv(helperVar)]; helper != nil {
		helper(os.Args[1])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// quickExit makes a process built with -race end without sleeping for a second.
const quickExit = "GORACE=atexit_sleep_ms=0"

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// actor is a process of a tree, with what is below it. It tells its name and pid
// on fd 3, which all of a tree hold: its end of file means that all have ended.
type actor struct {
	Name     string
	Exe      string   // a name to be known by in the kernel; "" is the test binary's
	Env      []string // added to the parent's
	CleanEnv bool     // env -i
	Ignore   []unix.Signal
	Setsid   bool
	Twice    bool // double fork: its parent is gone from the start
	Stopped  bool // SIGSTOPs itself when the tree stands
	Leave    bool // ends on SIGUSR1, by itself
	Relay    int  // forks a successor over and over, each ignoring TERM and HUP
	Below    []actor
}

func parseActor(arg string) (a actor) {
	if err := json.Unmarshal([]byte(arg), &a); err != nil {
		panic(err)
	}
	return a
}

func (a actor) cmd(helper string) *exec.Cmd {
	arg, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	cmd := exec.Command("/proc/self/exe", string(arg))
	if a.Exe != "" {
		cmd.Path = a.Exe
	}
	if !a.CleanEnv {
		cmd.Env = append(os.Environ(), a.Env...)
	} else {
		cmd.Env = a.Env
	}
	cmd.Env = append(cmd.Env, helperVar+"="+helper, quickExit)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: a.Setsid}
	return cmd
}

// start starts a below us; roster is fd 3 there, nil meaning our own fd 3.
func (a actor) start(roster *os.File) *exec.Cmd {
	if roster == nil {
		roster = ourRoster()
	}
	helper := "actor"
	twice := a.Twice
	if twice {
		a.Twice, helper = false, "launch"
	}
	cmd := a.cmd(helper)
	cmd.ExtraFiles = []*os.File{roster}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	if twice {
		cmd.Wait() //nolint:errcheck // it only started another
	}
	return cmd
}

// ourRoster is one file for as long as the process lives: a collected one would
// be closed.
var ourRoster = sync.OnceValue(func() *os.File { return os.NewFile(3, "roster") })

// relay forks its successor every few milliseconds until $1 is used up.
const relay = `trap "" TERM HUP; echo "relay $$" >&3; if [ "$1" -gt 0 ]; then sleep 0.003; sh -c "$2" sh $(($1-1)) "$2" & fi; sleep 1000`

func (a actor) play() {
	for _, s := range a.Ignore {
		signal.Ignore(s)
	}
	leave := make(chan os.Signal, 1) // one is enough to leave
	if a.Leave {
		signal.Notify(leave, unix.SIGUSR1)
	}
	for _, b := range a.Below {
		b.start(nil)
	}
	if a.Relay > 0 {
		cmd := exec.Command("/bin/sh", "-c", relay, "sh", fmt.Sprint(a.Relay), relay)
		cmd.ExtraFiles = []*os.File{ourRoster()}
		if err := cmd.Start(); err != nil {
			panic(err)
		}
	}
	fmt.Fprintf(ourRoster(), "%s %d\n", a.Name, os.Getpid())
	if a.Stopped {
		unix.Kill(os.Getpid(), unix.SIGSTOP)
	}
	for !a.Leave {
		unix.Pause() // the runtime takes a process whose goroutines all wait for dead
	}
	<-leave
}

// troupe is a tree of actors that stands.
type troupe struct {
	t      *testing.T
	run    string
	root   Identity
	cmd    *exec.Cmd
	ids    map[string]Identity
	roster *bufio.Reader
	pipe   *os.File
}

// play starts a as a client of a fresh run, waits until all of its tree has told
// its name, and ends whatever is left of it after the test.
func play(t *testing.T, a actor) *troupe {
	t.Helper()
	run := session.NewID()
	a.Env = append(a.Env, RunMark+"="+run)
	a.Setsid = true
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	tr := newTroupe(t, run, a.start(w), r)
	w.Close()
	tr.gather(a.count())
	tr.root = tr.id(a.Name)
	reaped := make(chan struct{})
	go func() { tr.cmd.Wait(); close(reaped) }()
	t.Cleanup(func() {
		tr.clear()
		<-reaped
	})
	return tr
}

func newTroupe(t *testing.T, run string, cmd *exec.Cmd, r *os.File) *troupe {
	return &troupe{t: t, run: run, cmd: cmd, ids: map[string]Identity{}, roster: bufio.NewReader(r), pipe: r}
}

// clear ends what is left of the tree, by identity, and waits for it to be gone.
func (tr *troupe) clear() {
	left := tr.ids
	for range 100 { // a relay goes on meanwhile
		for _, id := range left {
			tr.kill(id)
		}
		tree, err := Scan(tr.spec())
		if err != nil || len(tree.Processes) == 0 {
			break
		}
		left = map[string]Identity{}
		for _, p := range tree.Processes {
			left[p.String()] = p.Identity
		}
	}
	tr.allGone()
	tr.pipe.Close()
}

func (tr *troupe) kill(id Identity) {
	h, err := Open(id)
	if err != nil {
		return
	}
	defer h.Close()
	h.Signal(unix.SIGKILL) //nolint:errcheck // it may have ended
	waitFor(tr.t, h)
}

func (a actor) count() int {
	n := 1
	for _, b := range a.Below {
		n += b.count()
	}
	return n
}

// gather reads n names from the roster.
func (tr *troupe) gather(n int) {
	tr.t.Helper()
	tr.pipe.SetReadDeadline(time.Now().Add(patience))
	for n > 0 {
		line, err := tr.roster.ReadString('\n')
		if err != nil {
			tr.t.Fatalf("the tree does not stand: %v; so far %v", err, tr.ids)
		}
		var name string
		var pid int
		if _, err := fmt.Sscan(line, &name, &pid); err != nil {
			tr.t.Fatal(err)
		}
		if name != "relay" {
			n--
		}
		if id, err := Of(pid); err == nil {
			tr.ids[name] = id
		}
	}
}

func (tr *troupe) id(name string) Identity {
	tr.t.Helper()
	id, ok := tr.ids[name]
	if !ok {
		tr.t.Fatalf("no actor %q in %v", name, tr.ids)
	}
	return id
}

// allGone waits for the end of every process that holds the roster.
func (tr *troupe) allGone() {
	tr.t.Helper()
	tr.pipe.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.Copy(io.Discard, tr.roster); err != nil {
		tr.t.Errorf("something of the tree is left: %v", err)
	}
}

// spec is the tree as its supervisor would ask for it.
func (tr *troupe) spec() TreeSpec {
	return TreeSpec{Run: tr.run, Roots: []Identity{tr.root}}
}

// names translates processes to the names of their actors.
func (tr *troupe) names(ps []Process) map[string]bool {
	out := map[string]bool{}
	for _, p := range ps {
		name := fmt.Sprint(p.PID)
		for n, id := range tr.ids {
			if id == p.Identity {
				name = n
			}
		}
		out[name] = true
	}
	return out
}

func (tr *troupe) want(what string, ps []Process, names ...string) {
	tr.t.Helper()
	got := tr.names(ps)
	for _, n := range names {
		if !got[n] {
			tr.t.Errorf("%s: %s is missing", what, n)
		}
		delete(got, n)
	}
	for n := range got {
		tr.t.Errorf("%s: %s is too much", what, n)
	}
}

// lives fails the test unless every named actor still runs.
func (tr *troupe) lives(names ...string) {
	tr.t.Helper()
	for _, n := range names {
		if l := Check(tr.id(n)); l.Status != Live {
			tr.t.Errorf("%s is %v (%s), want live", n, l.Status, l.Reason)
		}
	}
}

// alias makes a program of the given name that is the test binary.
func alias(t *testing.T, name string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(exe, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// supervise is a subreaper with a client; for every line of stdin it does what
// the line says and answers with one line of JSON.
func supervise(arg string) {
	if err := BecomeSubreaper(); err != nil {
		panic(err)
	}
	os.Unsetenv(RoleMark) // ours alone; the client must not inherit it
	a := parseActor(arg)
	client := a.start(nil)
	root, err := Of(client.Process.Pid)
	if err != nil {
		panic(err)
	}
	run := strings.TrimPrefix(a.Env[0], RunMark+"=")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var answer any
		switch in.Text() {
		case "end":
			spec := TreeSpec{Run: run, Roots: []Identity{root}, Adopter: Self()}
			e, err := EndTree(background, spec, Grace{TermFor: 100 * time.Millisecond})
			if err != nil {
				panic(err)
			}
			answer = e
		case "reap":
			n, err := ReapAdopted(func(pid int) bool { return pid == client.Process.Pid })
			if err != nil {
				panic(err)
			}
			answer = n
		case "wait":
			client.Wait() //nolint:errcheck // the state tells
			answer = client.ProcessState.String()
		}
		if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
			panic(err)
		}
	}
}

// judge prints what this process makes of the identity in arg.
func judge(arg string) {
	var id Identity
	if err := json.Unmarshal([]byte(arg), &id); err != nil {
		panic(err)
	}
	_, err := Open(id)
	fmt.Printf("%v %v %v\n", Check(id).Status, session.ClassOf(err) == session.Unknown, errors.Is(err, ErrNoProcess))
}

// scanAsNobody scans without the right to read what root's environments say.
func scanAsNobody(arg string) {
	var spec TreeSpec
	if err := json.Unmarshal([]byte(arg), &struct {
		Run   *string
		Roots *[]Identity
	}{&spec.Run, &spec.Roots}); err != nil {
		panic(err)
	}
	if err := unix.Setuid(65534); err != nil {
		panic(err)
	}
	t, err := Scan(spec)
	if err != nil {
		panic(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(t); err != nil {
		panic(err)
	}
}

func init() {
	if os.Getenv(helperVar) == "leaderless" {
		runtime.LockOSThread() // main stays on the first thread
	}
}

// leaderless ends its first thread only, tells so, and ends with its stdin.
func leaderless(string) {
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	unix.Syscall(unix.SYS_EXIT, 0, 0, 0)
}
