package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// patience bounds waits for what must happen; it is no measure of anything.
const patience = 30 * time.Second

// bench is one run: where it works and what it has to clean up.
type bench struct {
	full   bool
	idle   bool   // nothing is measured beside busy loops
	dir    string // for programs and sockets
	berth  string // the program under test, built as it is shipped
	client string // what everybody starts
	stamps *stamps

	mu   sync.Mutex // guards undo
	undo []func() error
}

func newBench(full, idle bool) (_ *bench, err error) {
	dir, err := os.MkdirTemp("", "bb-")
	if err != nil {
		return nil, err
	}
	b := &bench{full: full, idle: idle, dir: dir, berth: filepath.Join(dir, "berth"), client: filepath.Join(dir, "client")}
	b.onClose(func() error { return os.RemoveAll(dir) })
	for path, pkg := range map[string]string{b.berth: "berth", b.client: "berth/bench/client"} {
		build := exec.Command("go", "build", "-trimpath", "-tags", "urfave_cli_no_docs", "-ldflags", "-s -w", "-o", path, pkg)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return nil, errors.Join(fmt.Errorf("cannot build %s: %w", pkg, err), b.close())
		}
	}
	if b.stamps, err = listen(filepath.Join(dir, "stamps")); err != nil {
		return nil, errors.Join(err, b.close())
	}
	b.onClose(b.stamps.close)
	return b, nil
}

// onClose has f called at the end; the last one added is the first called.
func (b *bench) onClose(f func() error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.undo = append(b.undo, f)
}

func (b *bench) close() (err error) {
	b.mu.Lock()
	undo := b.undo
	b.undo = nil
	b.mu.Unlock()
	for i := len(undo) - 1; i >= 0; i-- {
		err = errors.Join(err, undo[i]())
	}
	return err
}

// rounds is how many turns to take.
func (b *bench) rounds(short, full int) int {
	if b.full {
		return full
	}
	return short
}

// idleAndLoaded runs f on the machine as it is, then beside two busy loops.
func (b *bench) idleAndLoaded(f func(load string) error) error {
	if err := f("idle"); err != nil || b.idle {
		return err
	}
	calm := load()
	defer calm()
	return f("loaded")
}
