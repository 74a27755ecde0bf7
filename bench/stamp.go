package main

import (
	"encoding/binary"
	"fmt"
	"net"
	"syscall"
	"time"

	"berth/clients"

	"golang.org/x/sys/unix"
)

// clock is the machine's monotonic clock, which compares across processes.
func clock() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic("internal error: no monotonic clock: " + err.Error())
	}
	return ts.Nano()
}

// stamps is where clients say when their first instruction ran, and who they are.
type stamps struct{ conn *net.UnixConn }

func listen(path string) (*stamps, error) {
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	return &stamps{conn}, err
}

func (s *stamps) close() error { return s.conn.Close() }

func (s *stamps) path() string { return s.conn.LocalAddr().String() }

// next waits for the next client.
func (s *stamps) next() (at int64, pid int, err error) {
	var msg [16]byte
	if err := s.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return 0, 0, err
	}
	if _, err := s.conn.Read(msg[:]); err != nil {
		return 0, 0, fmt.Errorf("no client reported: %w", err)
	}
	return int64(binary.LittleEndian.Uint64(msg[:])), int(binary.LittleEndian.Uint64(msg[8:])), nil
}

// took runs start, which makes a client, and returns the time from its beginning to
// the client's first instruction.
func (s *stamps) took(start func() error) (d time.Duration, pid int, err error) {
	began := clock()
	if err := start(); err != nil {
		return 0, 0, err
	}
	at, pid, err := s.next()
	return time.Duration(at - began), pid, err
}

// end ends a process that the bench had somebody start, and waits until it is gone;
// one of our own children is a zombie then.
func end(pid int) {
	id, err := clients.Of(pid)
	if err != nil || pid <= 1 {
		return
	}
	syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck // it may have gone by itself
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if clients.Check(id).Status == clients.Dead {
			return
		}
	}
}
