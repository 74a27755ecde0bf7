package launcher

import (
	"testing"
	"time"

	"berth/internal/protocol"
)

// Closing our side ends a read of it, though somebody else has the terminal open.
func TestCloseEndsAPendingRead(t *testing.T) {
	ptmx, tty, err := openPTY()
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	if err := Resize(ptmx, protocol.Size{Cols: 100, Rows: 30}); err != nil {
		t.Fatal(err)
	}
	reading, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		close(reading)
		_, err := ptmx.Read(make([]byte, 1))
		ended <- err
	}()
	<-reading
	if err := ptmx.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err == nil {
			t.Error("it read something")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the read goes on")
	}
	if _, err := tty.Write([]byte("x")); err == nil { // EIO: hung up
		t.Error("whoever was left behind was not hung up on")
	}
}
