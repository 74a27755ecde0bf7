package lock

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("LOCK_TEST_HOLD"); dir != "" {
		os.Exit(hold(dir))
	}
	os.Exit(m.Run())
}

// hold takes the launch lock, says so, and keeps it until it is killed or its input
// ends.
func hold(dir string) int {
	if _, err := Acquire(context.Background(), dir, "s", Launch, "the holder", 0); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("held")
	io.Copy(io.Discard, os.Stdin)
	return 0
}

// startHolder starts a process that holds the launch lock.
func startHolder(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LOCK_TEST_HOLD="+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("holder said %q, %v", line, err)
	}
	return cmd
}

func TestTheRefusalNamesTheHolder(t *testing.T) {
	dir := t.TempDir()
	other := startHolder(t, dir)
	_, err := Acquire(t.Context(), dir, "s", Launch, "we", 0)
	var held *HeldError
	if !errors.As(err, &held) || held.Kind != Launch || held.Holder.What != "the holder" || held.Holder.PID != other.Process.Pid {
		t.Fatalf("error %v", err)
	}
	for _, text := range []string{"launch lock", "the holder", fmt.Sprint(other.Process.Pid), "since"} {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%q lacks %q", err, text)
		}
	}
	if is, h, err := Held(dir, "s", Launch); !is || h.PID != other.Process.Pid || err != nil {
		t.Errorf("held: %v, %v, %v", is, h, err)
	}
}

// The kernel gives a killed holder's lock to who waits for it, and the file stays
// the same file.
func TestAKilledHoldersLockGoesToTheWaiting(t *testing.T) {
	dir := t.TempDir()
	other := startHolder(t, dir)
	before := inode(t, dir)
	got := make(chan error, 1)
	go func() {
		l, err := Acquire(context.Background(), dir, "s", Launch, "we", time.Minute)
		if err == nil {
			err = l.Release()
		}
		got <- err
	}()
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-got:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it never came")
	}
	if inode(t, dir) != before {
		t.Error("another file")
	}
}

// No lock ends by age, and a stopped holder keeps its own.
func TestTheWaitIsBounded(t *testing.T) {
	dir := t.TempDir()
	startHolder(t, dir)
	if _, err := Acquire(t.Context(), dir, "s", Launch, "we", 50*time.Millisecond); !errors.As(err, new(*HeldError)) {
		t.Errorf("after its wait: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Acquire(ctx, dir, "s", Launch, "we", time.Hour); err == nil {
		t.Error("no error after the context ended")
	}
}

// An attempt that gave up does not keep the lock it is given later.
func TestAnAttemptThatGaveUpGivesTheLockBack(t *testing.T) {
	dir := t.TempDir()
	first, err := Acquire(t.Context(), dir, "s", Launch, "first", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Acquire(t.Context(), dir, "s", Launch, "second", time.Millisecond); err == nil {
		t.Fatal("two holders")
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	third, err := Acquire(t.Context(), dir, "s", Launch, "third", 30*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := third.Release(); err != nil {
		t.Fatal(err)
	}
}

func TestLocksAreApart(t *testing.T) {
	dir := t.TempDir()
	var held []*Lock
	for _, c := range []struct {
		session string
		kind    Kind
	}{{"s", Launch}, {"s", Life}, {"s", Write}, {"t", Launch}, {"task:inv:flow:node:1", Launch}, {"../x", Launch}} {
		l, err := Acquire(t.Context(), dir, c.session, c.kind, "test", 0)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		held = append(held, l)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != len(held) {
		t.Errorf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		if st, err := f.Info(); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), st.Mode(), err)
		}
	}
	for _, l := range held {
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	}
	if after, _ := os.ReadDir(dir); len(after) != len(files) {
		t.Error("a lock file was removed")
	}
}

func TestNeverTakenIsNotHeld(t *testing.T) {
	dir := t.TempDir()
	if is, _, err := Held(dir, "s", Life); is || err != nil {
		t.Error(is, err)
	}
	if Existed(dir, "s", Life) {
		t.Error("existed")
	}
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Error("looking made a file")
	}
}

func TestALockIsNotTakenThroughALink(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "elsewhere"), file(dir, "s", Launch)); err != nil {
		t.Fatal(err)
	}
	if _, err := Acquire(t.Context(), dir, "s", Launch, "test", 0); err == nil {
		t.Error("taken")
	}
	if _, err := os.Lstat(filepath.Join(dir, "elsewhere")); err == nil {
		t.Error("made what the link names")
	}
}

func inode(t *testing.T, dir string) uint64 {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(file(dir, "s", Launch), &st); err != nil {
		t.Fatal(err)
	}
	return uint64(st.Ino)
}
