package clients

import (
	"context"
	"errors"
	"os/exec"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

func open(t *testing.T, id Identity) *Handle {
	t.Helper()
	h, err := Open(id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

func TestHandle(t *testing.T) {
	tr := play(t, actor{Name: "client"})
	h := open(t, tr.root)
	if h.Exited() {
		t.Error("it has ended already")
	}

	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(background)
	cancel(cause)
	if err := h.Wait(ctx); err != cause {
		t.Errorf("Wait: %v, want the cause", err)
	}

	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { waitFor(t, h) })
	}
	if err := h.Signal(unix.SIGTERM); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if !h.Exited() {
		t.Error("it is not said to have ended")
	}
	if err := h.Signal(unix.SIGTERM); !errors.Is(err, ErrNoProcess) {
		t.Errorf("Signal after its end: %v, want ErrNoProcess", err)
	}
}

func TestHandleClose(t *testing.T) {
	tr := play(t, actor{Name: "client"})
	h := open(t, tr.root)
	done := h.Done()
	h.Close()
	h.Close()
	select {
	case <-done:
		t.Error("closing the handle looks like the process's end")
	default:
	}
	if err := h.Signal(unix.SIGKILL); err == nil {
		t.Error("a closed handle still signals")
	}
	tr.lives("client")
}

func TestSignalRefusesOwnGroup(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	id, err := Of(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := open(t, id).Signal(unix.SIGKILL); !errors.Is(err, ErrOurs) {
		t.Errorf("Signal: %v, want ErrOurs", err)
	}
	if l := Check(id); l.Status != Live {
		t.Errorf("%v, want live", l)
	}
}
