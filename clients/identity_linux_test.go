package clients

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"berth/internal/session"
)

var background = context.Background()

func TestCheck(t *testing.T) {
	change := func(f func(*Identity)) Identity {
		id := Self()
		f(&id)
		return id
	}
	for _, c := range []struct {
		name string
		id   Identity
		want Status
	}{
		{"ourselves", Self(), Live},
		{"nothing", Identity{}, Unknown},
		{"number reused", change(func(id *Identity) { id.Start-- }), Dead},
		{"another boot", change(func(id *Identity) { id.Boot = "x" }), Dead},
		{"another boot, other namespace", change(func(id *Identity) { id.Boot, id.PIDNS = "x", "1" }), Dead},
		{"another host", change(func(id *Identity) { id.Host, id.Boot = "x", "x" }), Unknown},
		{"another container", change(func(id *Identity) { id.PIDNS = "1" }), Unknown},
		{"another container, other host name", change(func(id *Identity) { id.Host, id.PIDNS = "x", "1" }), Unknown},
		{"boot not told", change(func(id *Identity) { id.Boot = unread }), Unknown},
		{"namespace not told", change(func(id *Identity) { id.PIDNS = unread }), Unknown},
	} {
		if l := Check(c.id); l.Status != c.want || l.Reason == "" {
			t.Errorf("%s: %v (%q), want %v", c.name, l.Status, l.Reason, c.want)
		}
	}
}

// A pid that came to mean somebody else is dead and cannot be opened (fault 37).
func TestReusedPid(t *testing.T) {
	tr := play(t, actor{Name: "client"})
	id := tr.root
	id.Start--
	if l := Check(id); l.Status != Dead {
		t.Errorf("%v (%s), want dead", l.Status, l.Reason)
	}
	if _, err := Open(id); !errors.Is(err, ErrNoProcess) {
		t.Errorf("Open: %v, want ErrNoProcess", err)
	}
	tr.lives("client")
}

// A child that exited and was not reaped is dead (fault 38).
func TestZombie(t *testing.T) {
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	id, err := Of(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	h, err := Open(id)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	stdin.Close()
	waitFor(t, h)
	if l := Check(id); l.Status != Dead {
		t.Errorf("%v (%s), want dead", l.Status, l.Reason)
	}
	if _, err := Of(id.PID); !errors.Is(err, ErrNoProcess) {
		t.Errorf("Of: %v, want ErrNoProcess", err)
	}
	if _, err := Open(id); !errors.Is(err, ErrNoProcess) {
		t.Errorf("Open: %v, want ErrNoProcess", err)
	}
}

func waitFor(t *testing.T, h *Handle) {
	t.Helper()
	ctx, cancel := context.WithTimeout(background, patience)
	defer cancel()
	if err := h.Wait(ctx); err != nil {
		t.Fatalf("process %s does not end: %v", h.Identity(), err)
	}
}

// A process whose first thread has ended says Z, and lives.
func TestLeaderThreadEnded(t *testing.T) {
	cmd := exec.Command("/proc/self/exe", "")
	cmd.Env = append(os.Environ(), quickExit, helperVar+"=leaderless")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer stdin.Close()
	id, err := Of(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for start := time.Now(); ; <-look.C {
		b, err := os.ReadFile("/proc/" + strings.Split(id.String(), "-")[0] + "/stat")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), ") Z ") {
			break
		}
		if time.Since(start) > patience {
			t.Fatal("its first thread does not end")
		}
	}
	if l := Check(id); l.Status != Live {
		t.Errorf("%v (%s), want live", l.Status, l.Reason)
	}
	h, err := Open(id)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if h.Exited() {
		t.Error("its handle says it has ended")
	}
	stdin.Close()
	waitFor(t, h)
}

// Whoever lives in another pid namespace of the same boot cannot tell, and opens
// nothing (fault 71); without a fresh /proc it does not even know its own.
func TestOtherNamespace(t *testing.T) {
	tr := play(t, actor{Name: "client"})
	arg, err := json.Marshal(tr.root)
	if err != nil {
		t.Fatal(err)
	}
	gone := tr.root
	gone.PID = 1 << 21
	goneArg, err := json.Marshal(gone)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{{"-p", "-f", "--mount-proc"}, {"-p", "-f"}} {
		for _, arg := range []string{string(arg), string(goneArg)} {
			cmd := exec.Command("unshare", append(flags, exe, arg)...)
			cmd.Env = append(os.Environ(), quickExit, helperVar+"=judge")
			out, err := cmd.CombinedOutput()
			if err != nil && os.Geteuid() != 0 {
				t.Skipf("cannot make a pid namespace: %v", err)
			}
			if string(out) != "unknown true false\n" || err != nil {
				t.Errorf("unshare %v: %q, %v, want unknown", flags, out, err)
			}
		}
	}
}

func TestOpenRefusesOurs(t *testing.T) {
	for _, pid := range []int{os.Getpid(), 1} {
		id, err := Of(pid)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(id); !errors.Is(err, ErrOurs) {
			t.Errorf("Open(%d): %v, want ErrOurs", pid, err)
		}
	}
	foreign := Self()
	foreign.Host, foreign.Boot = "x", "x"
	if _, err := Open(foreign); session.ClassOf(err) != session.Unknown {
		t.Errorf("Open of another host's process: %v", err)
	}
	if _, err := Open(Identity{}); session.ClassOf(err) != session.Unknown {
		t.Errorf("Open of nothing: %v", err)
	}
}

// A program may call itself anything.
func TestParseStat(t *testing.T) {
	rest := " 7 8 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 THREADS 0 4242 0 0\n"
	for line, want := range map[string]procStat{
		"5 (a) S" + strings.Replace(rest, "THREADS", "1", 1):         {name: "a", ppid: 7, pgid: 8, sid: 9, start: 4242},
		"5 (a (b) Z 1) S" + strings.Replace(rest, "THREADS", "1", 1): {name: "a (b) Z 1", ppid: 7, pgid: 8, sid: 9, start: 4242},
		"5 (\n) Z" + strings.Replace(rest, "THREADS", "1", 1):        {name: "\n", ppid: 7, pgid: 8, sid: 9, start: 4242, zombie: true},
		"5 (led) Z" + strings.Replace(rest, "THREADS", "2", 1):       {name: "led", ppid: 7, pgid: 8, sid: 9, start: 4242},
		"5 () X" + strings.Replace(rest, "THREADS", "0", 1):          {ppid: 7, pgid: 8, sid: 9, start: 4242, zombie: true},
	} {
		if got, err := parseStat([]byte(line)); got != want || err != nil {
			t.Errorf("%q: %+v, %v, want %+v", line, got, err, want)
		}
	}
	for _, line := range []string{"", "5 a S", ") (", "5 (a) S 1 2", "5 (a) S" + rest} {
		if got, err := parseStat([]byte(line)); err == nil {
			t.Errorf("%q: %+v, want an error", line, got)
		}
	}
}
