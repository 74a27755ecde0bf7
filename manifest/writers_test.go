package manifest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/atomicfile"
	"berth/lock"
)

const (
	writers  = 20
	lockWait = 30 * time.Second
)

// writer writes every kind of document of the run MANIFEST_TEST_RUN that many write,
// for ever, and notes in its log what it has been told is on disk.
func writer() int {
	dir := Dir(os.Getenv("MANIFEST_TEST_RUN"))
	log, err := os.OpenFile(os.Getenv("MANIFEST_TEST_LOG"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for n := 0; ; n++ {
		if err := writeOnce(dir, log, n); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
}

func writeOnce(dir Dir, log *os.File, n int) error {
	l, err := lock.Acquire(context.Background(), filepath.Dir(string(dir)), "session", lock.Launch, "writer", lockWait)
	if err != nil {
		return err
	}
	w, err := dir.SetWanted(WantRun, fmt.Sprintf("writer %d", os.Getpid()))
	if err := errors.Join(err, l.Release()); err != nil {
		return err
	}
	r, err := dir.AddRequest(Request{Kind: RequestStop, Reason: "test", By: strconv.Itoa(os.Getpid())})
	if err != nil {
		return err
	}
	if err := dir.WriteNative(Native{Provider: "demo", NativeID: strings.Repeat("x", n%5000+1), Source: "chosen", ObservedAt: "2026"}); err != nil {
		return err
	}
	if err := dir.AppendEvent(Event{Run: "run", Session: "session", Event: "written", Detail: map[string]any{"n": n}}); err != nil {
		return err
	}
	_, err = fmt.Fprintf(log, "%d %d\n", w.Seq, r.Seq)
	return err
}

// Twenty processes write one run directory while one after the other is killed.
// Whoever looks sees whole documents, no file becomes empty, and nothing that a
// writer was told is written is lost.
func TestWritersKilledInTheirWriting(t *testing.T) {
	kills := 30
	if os.Getenv("BERTH_SOAK") != "" {
		kills = 600
	}
	base := t.TempDir()
	dir := Dir(filepath.Join(base, "run"))
	for _, sub := range append(subdirs, "") {
		if err := os.MkdirAll(dir.Path(sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	logs := 0
	start := func() *exec.Cmd {
		logs++
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "MANIFEST_TEST_ROLE=writer", "MANIFEST_TEST_RUN="+string(dir),
			"MANIFEST_TEST_LOG="+filepath.Join(base, fmt.Sprintf("log-%d", logs)))
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	cmds := make([]*exec.Cmd, writers)
	for i := range cmds {
		cmds[i] = start()
	}
	end := func(i int) {
		cmds[i].Process.Kill()
		cmds[i].Wait()
		if s := cmds[i].ProcessState; s.Exited() {
			t.Errorf("a writer ended by itself: %v", s)
		}
	}
	looking, enough := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(looking)
		for looks := 0; ; looks++ {
			select {
			case <-enough:
				return
			default:
				look(t, dir)
			}
		}
	}()
	for range kills {
		before := progress(t, dir)
		look := time.NewTicker(time.Millisecond)
		for deadline := time.Now().Add(lockWait); progress(t, dir) == before; <-look.C { // each kill meets writing, not waiting
			if time.Now().After(deadline) {
				t.Fatal("the writers stand still")
			}
		}
		look.Stop()
		i := rand.IntN(writers)
		end(i)
		cmds[i] = start()
	}
	var all sync.WaitGroup
	for i := range cmds {
		all.Go(func() { end(i) })
	}
	all.Wait()
	close(enough)
	<-looking
	look(t, dir)
	countWrites(t, dir, base, kills+writers)
}

func progress(t *testing.T, dir Dir) int {
	w, err := dir.Wanted()
	if err != nil {
		t.Error(err)
	}
	return w.Seq
}

// look reads everything, as any other process may at any time.
func look(t *testing.T, dir Dir) {
	if w, err := dir.Wanted(); err != nil || w.Seq > 0 && w.Want != WantRun {
		t.Errorf("wanted: %+v, %v", w, err)
	}
	if n, err := dir.Native(); err != nil || strings.Trim(n.NativeID, "x") != "" {
		t.Errorf("native: %+v, %v", n, err)
	}
	seqs, err := dir.requestSeqs()
	if err != nil {
		t.Error(err)
	}
	for _, seq := range seqs[max(0, len(seqs)-10):] {
		var r Request
		if err := atomicfile.ReadJSON(dir.Path("requests", strconv.Itoa(seq)+".json"), Schema, &r); err != nil || r.Seq != seq {
			t.Errorf("request %d: %+v, %v", seq, r, err)
		}
	}
}

// countWrites compares what writers were told is written with what is there. A
// killed one may have written once more than it could note.
func countWrites(t *testing.T, dir Dir, base string, killed int) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(base, "log-*"))
	if err != nil {
		t.Fatal(err)
	}
	wanted, requests := map[int]bool{}, map[int]bool{}
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			var w, r int
			if _, err := fmt.Sscanf(line, "%d %d\n", &w, &r); err != nil {
				t.Fatal(err)
			}
			if wanted[w] || requests[r] {
				t.Errorf("two writers were told they wrote wanted %d, request %d", w, r)
			}
			wanted[w], requests[r] = true, true
		}
	}
	w, err := dir.Wanted()
	if extra := w.Seq - len(wanted); err != nil || extra < 0 || extra > killed {
		t.Errorf("wanted.json counts %d, and %d were written (%v)", w.Seq, len(wanted), err)
	}
	rs, err := dir.Pending(0)
	if extra := len(rs) - len(requests); err != nil || extra < 0 || extra > killed {
		t.Errorf("%d requests are there, and %d were written (%v)", len(rs), len(requests), err)
	}
	for _, r := range rs {
		delete(requests, r.Seq)
	}
	if len(requests) > 0 {
		t.Errorf("requests lost: %v", requests)
	}
	if len(wanted) < killed/2 {
		t.Errorf("only %d writes in all: the test shows nothing", len(wanted))
	}
	for i, line := range eventLines(t, dir) {
		if line["event"] != "written" {
			t.Errorf("event %d: %v", i, line)
		}
	}
}
