package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"berth/internal/session"
)

// helperVar makes the test binary a berth with one verb, wait, which ends with
// the error of that name when its context does.
const helperVar = "BERTH_TEST_INTERRUPT"

func TestMain(m *testing.M) {
	if how := os.Getenv(helperVar); how != "" {
		ctx, stop := interruptible(context.Background())
		sys := System{Args: os.Args, Getenv: os.Getenv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
		status := run(ctx, sys, tree([]*verb{hangVerb(how)}), []string{"wait"})
		stop()
		os.Exit(status)
	}
	os.Exit(m.Run())
}

func hangVerb(how string) *verb {
	return &verb{Name: "wait", Run: func(ctx context.Context, env *Env, _ *cli.Context) error {
		fmt.Fprintln(env.Out, "ready")
		<-ctx.Done()
		fmt.Fprintln(env.Out, "cancelled")
		switch how {
		case "stubborn":
			select {}
		case "words":
			return session.Errorf(session.NotResumable, "interrupted; 7k2m runs on").WithHint("berth open 7k2m")
		case "done":
			return nil
		}
		return fmt.Errorf("cannot wait: %w", ctx.Err())
	}}
}

// helper starts the helper and returns it with its output, read up to "ready".
func helper(t *testing.T, how string, argv ...string) (*exec.Cmd, *bufio.Scanner, *bytes.Buffer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	argv = append(argv, os.Args[0])
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), helperVar+"="+how)
	stderr := new(bytes.Buffer)
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "ready" {
		t.Fatalf("the helper did not start: %q %s", lines.Text(), stderr)
	}
	return cmd, lines, stderr
}

func TestInterrupt(t *testing.T) {
	for how, want := range map[string]struct {
		status int
		stderr string
	}{
		"echo":  {130, "berth: interrupted\n"},
		"words": {130, "berth: interrupted; 7k2m runs on\n  try: berth open 7k2m\n"},
		"done":  {0, ""},
	} {
		t.Run(how, func(t *testing.T) {
			cmd, lines, stderr := helper(t, how)
			cmd.Process.Signal(os.Interrupt)
			lines.Scan()
			err := cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != want.status || stderr.String() != want.stderr {
				t.Errorf("got %v, %q", err, stderr)
			}
		})
	}
}

func TestSecondInterruptEnds(t *testing.T) {
	cmd, lines, _ := helper(t, "stubborn")
	cmd.Process.Signal(os.Interrupt)
	if !lines.Scan() || lines.Text() != "cancelled" {
		t.Fatal("the first did not cancel")
	}
	ended := make(chan error, 1) // one: Wait returns once
	go func() { ended <- cmd.Wait() }()
	for { // the handler goes away just after the context is cancelled
		cmd.Process.Signal(os.Interrupt)
		select {
		case err := <-ended:
			exit, _ := errors.AsType[*exec.ExitError](err)
			if exit == nil || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGINT {
				t.Errorf("ended with %v, not by SIGINT", err)
			}
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func TestIgnoredInterruptStaysIgnored(t *testing.T) {
	cmd, lines, _ := helper(t, "echo", "sh", "-c", `trap "" INT; exec "$0"`)
	cmd.Process.Signal(os.Interrupt)
	time.AfterFunc(200*time.Millisecond, func() { cmd.Process.Signal(syscall.SIGTERM) })
	if lines.Scan() {
		t.Errorf("said %q", lines.Text())
	}
	cmd.Wait()
	if got := cmd.ProcessState.Sys().(syscall.WaitStatus).Signal(); got != syscall.SIGTERM {
		t.Errorf("ended by %v, not by the SIGTERM after it", got)
	}
}
