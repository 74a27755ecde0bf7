package clients

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"berth/internal/session"

	"golang.org/x/sys/unix"
)

func see(t *testing.T, spec TreeSpec) Tree {
	t.Helper()
	tree, err := Scan(spec)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func yes(Process) bool { return true }

// The tree is what carries the mark, wherever it went, and what descends from the
// client.
func TestTree(t *testing.T) {
	tr := play(t, actor{Name: "client", Below: []actor{
		{Name: "child", Below: []actor{{Name: "grandchild"}}},
		{Name: "setsid", Setsid: true},
		{Name: "nohup", Ignore: []unix.Signal{unix.SIGHUP}},
		{Name: "daemon", Twice: true, Setsid: true},
		{Name: "env-i", CleanEnv: true, Below: []actor{{Name: "below-env-i"}}},
		{Name: "other-run", Env: []string{RunMark + "=other"}, Below: []actor{
			{Name: "below-other-run"},
			{Name: "unmarked-below-other-run", CleanEnv: true},
		}},
	}})
	tree := see(t, tr.spec())
	tr.want("processes", tree.Processes, "client", "child", "grandchild", "setsid", "nohup", "daemon", "env-i", "below-env-i")
	tr.want("spared", tree.Spared)
	tr.want("unverified", tree.Unverified)

	// Without a client on record the marks still tell.
	tree = see(t, TreeSpec{Run: tr.run})
	tr.want("by mark alone", tree.Processes, "client", "child", "grandchild", "setsid", "nohup", "daemon", "env-i", "below-env-i")
}

// A session started inside a session is not of its tree (fault 70), nor is a tmux
// server; whatever stands below them stays.
func TestTreeEndsAtBorders(t *testing.T) {
	below := func(name string) []actor {
		return []actor{{Name: name, CleanEnv: true, Env: []string{RunMark + "=inner"}, Below: []actor{
			{Name: name + "-unmarked", CleanEnv: true},
		}}}
	}
	a := actor{Name: "client", Below: []actor{
		{Name: "shell", Below: []actor{
			{Name: "supervisor", Env: []string{RoleMark + "=supervisor", HomeMark + "=/h", RunDirMark + "=/h/runs/x"}, Setsid: true, Below: below("inner")},
		}},
		{Name: "tmux", Env: []string{RoleMark + "=tmux"}, Twice: true, Setsid: true, Below: []actor{
			{Name: "pane", CleanEnv: true},
		}},
	}}
	tr := play(t, a)

	spec := tr.spec()
	asked := map[string]Process{}
	spec.IsBorder = func(p Process) bool { asked[p.Role] = p; return true }
	tree := see(t, spec)
	tr.want("processes", tree.Processes, "client", "shell")
	tr.want("unverified", tree.Unverified)
	if p := asked[RoleSupervisor]; p.Identity != tr.id("supervisor") || p.Home != "/h" || p.RunDir != "/h/runs/x" || len(asked) != 2 {
		t.Errorf("asked about %+v", asked)
	}

	// A border nobody confirms is left alone and said, with all below it.
	spec.IsBorder = nil
	tree = see(t, spec)
	tr.want("processes", tree.Processes, "client", "shell")
	tr.want("unverified", tree.Unverified, "supervisor", "inner-unmarked", "tmux", "pane")
	for _, p := range tree.Unverified {
		if p.Why == "" {
			t.Errorf("no reason for %s", p)
		}
	}
}

// A process below a foreign border stays although it carries the mark: through
// another client, or below tmux. Only the border's own child is an orphan it
// adopted, since supervisors are subreapers.
func TestMarkBelowForeignBorder(t *testing.T) {
	run := session.NewID()
	mark := RunMark + "=" + run
	tr := play(t, actor{Name: "supervisor", Env: []string{RoleMark + "=supervisor"}, Below: []actor{
		{Name: "inner", CleanEnv: true, Env: []string{RunMark + "=inner"}, Below: []actor{
			{Name: "marked-deep", CleanEnv: true, Env: []string{mark}},
		}},
		{Name: "orphan", CleanEnv: true, Env: []string{mark}, Below: []actor{
			{Name: "orphans-child", CleanEnv: true},
		}},
		{Name: "tmux", CleanEnv: true, Env: []string{RoleMark + "=tmux"}, Below: []actor{
			{Name: "pane", CleanEnv: true, Env: []string{mark}},
		}},
	}})
	spec := TreeSpec{Run: run, IsBorder: yes}
	tree := see(t, spec)
	tr.want("processes", tree.Processes, "orphan", "orphans-child")
	tr.want("unverified", tree.Unverified)

	spec.IsBorder = nil
	tree = see(t, spec)
	tr.want("unconfirmed: processes", tree.Processes)
	tr.want("unconfirmed: unverified", tree.Unverified, "orphan", "orphans-child", "pane")
}

func TestTreeSpares(t *testing.T) {
	tr := play(t, actor{Name: "client", Below: []actor{
		{Name: "agent", Exe: alias(t, "gpg-agent"), Twice: true, Setsid: true, Below: []actor{{Name: "below"}}},
		{Name: "long", Exe: alias(t, "a-very-long-program-name")},
		{Name: "tmux", Exe: alias(t, "tmux: server")},
		{Name: "other", Exe: alias(t, "tmuxinator")},
	}})
	spec := tr.spec()
	spec.Spare = []string{"tmux", "gpg-agent", "a-very-long-program-name", "dockerd"}
	tree := see(t, spec)
	tr.want("processes", tree.Processes, "client", "other")
	tr.want("spared", tree.Spared, "agent", "below", "long", "tmux")
}

// An environment of any size is searched to its end.
func TestTreeLargeEnvironment(t *testing.T) {
	run := session.NewID()
	var env []string
	for i := range 10 {
		env = append(env, fmt.Sprintf("FILL%d=%010000d", i, i))
	}
	tr := play(t, actor{Name: "client", Below: []actor{
		{Name: "large", Setsid: true, Twice: true, CleanEnv: true, Env: append(env, RunMark+"="+run)},
	}})
	tr.want("processes", see(t, TreeSpec{Run: run}).Processes, "large")
}

// What the caller may not look into is said, and not taken for dead or ours.
func TestTreeUnverified(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	tr := play(t, actor{Name: "client", Below: []actor{{Name: "child", Below: []actor{{Name: "grandchild"}}}}})
	arg, err := json.Marshal(map[string]any{"Run": tr.run, "Roots": []Identity{tr.root}})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", string(arg))
	cmd.Env = []string{quickExit, helperVar + "=scan"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var tree Tree
	if err := json.Unmarshal(out, &tree); err != nil {
		t.Fatal(err)
	}
	tr.want("processes", tree.Processes, "client")
	tr.want("unverified", tree.Unverified, "child", "grandchild")
}

// This process, its group and all above it are never of a tree.
func TestTreeNeverOurs(t *testing.T) {
	run := session.NewID()
	cmd := exec.Command("sleep", "1000")
	cmd.Env = []string{RunMark + "=" + run}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	parent, err := Of(os.Getppid())
	if err != nil {
		t.Fatal(err)
	}
	tree := see(t, TreeSpec{Run: run, Roots: []Identity{Self(), parent}})
	for _, p := range tree.Processes {
		if p.PID == os.Getpid() || p.PID == os.Getppid() || p.PID == cmd.Process.Pid || p.PID <= 1 {
			t.Errorf("%s (%s) is of the tree", p, p.Name)
		}
	}
	if len(tree.Spared) < 3 {
		t.Errorf("spared: %v", tree.Spared)
	}
}

func TestInside(t *testing.T) {
	tr := play(t, actor{Name: "client", Below: []actor{
		{Name: "requester"},
		{Name: "env-i", CleanEnv: true},
		{Name: "supervisor", Env: []string{RoleMark + "=supervisor"}, Below: []actor{
			{Name: "inner", Env: []string{RunMark + "=inner"}},
		}},
	}})
	spec := tr.spec()
	spec.IsBorder = yes
	for name, want := range map[string]bool{"client": true, "requester": true, "env-i": true, "supervisor": false, "inner": false} {
		if got, err := Inside(spec, tr.id(name)); got != want || err != nil {
			t.Errorf("Inside(%s) = %v, %v, want %v", name, got, err, want)
		}
	}
	if got, err := Inside(spec, Self()); got || err != nil {
		t.Errorf("Inside(self) = %v, %v", got, err)
	}
	wrong := tr.root
	wrong.Start--
	if _, err := Inside(spec, wrong); err == nil {
		t.Error("Inside of a process that is not there")
	}
}

func BenchmarkScan(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var cmds []*exec.Cmd
			for range n {
				cmd := exec.Command("sleep", "1000")
				cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
				if err := cmd.Start(); err != nil {
					b.Fatal(err)
				}
				cmds = append(cmds, cmd)
			}
			before := cpuTime(b)
			for b.Loop() {
				if _, err := Scan(TreeSpec{Run: "none"}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N)/1000, "cpu-ms/op")
			for _, cmd := range cmds {
				cmd.Process.Kill()
				cmd.Wait()
			}
		})
	}
}

// cpuTime is what this process has used, which a busy machine does not change.
func cpuTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
