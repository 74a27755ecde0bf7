package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"time"

	"berth/clients"
	"berth/internal/protocol"
	"berth/launcher"
	"berth/lock"
	"berth/manifest"
)

// benchGate measures the last step of a start, in the calls a supervisor makes: all
// evidence is in its place (the last call has returned) → the gate has become the client
// (its status pipe was closed by the exec) → the client's first instruction. Beside
// it, fork and exec of the same program, which needs no gate.
func benchGate(b *bench) error {
	dir, err := os.MkdirTemp("/dev/shm", "bb-")
	if err != nil {
		return err
	}
	b.onClose(func() error { return os.RemoveAll(dir) })
	return b.idleAndLoaded(func(load string) error {
		rows := []row{{name: "fork and exec → first instruction"}, {name: "last evidence → exec"}, {name: "last evidence → first instruction"}}
		for range b.rounds(200, 1000) {
			d, _, err := b.bareExec()
			if err != nil {
				return err
			}
			opened, first, err := b.gateOnce(dir)
			if err != nil {
				return err
			}
			for i, d := range []time.Duration{d, opened, first} {
				rows[i].sample = append(rows[i].sample, d)
			}
		}
		table("gate: last evidence in its place → gate opens, tmpfs, "+load, rows[0].name, rows)
		if load == "idle" {
			within("last evidence → exec p99", rows[1].at(99), time.Millisecond)
		}
		return nil
	})
}

func (b *bench) bareExec() (time.Duration, int, error) {
	c := exec.Command(b.client, "wait", b.stamps.path())
	d, pid, err := b.stamps.took(c.Start)
	if err == nil {
		c.Process.Kill() //nolint:errcheck // it only waits
		c.Wait()         //nolint:errcheck // killed
	}
	return d, pid, err
}

func (b *bench) gateOnce(dir string) (opened, first time.Duration, err error) {
	run, err := os.MkdirTemp(dir, "run-")
	if err != nil {
		return 0, 0, err
	}
	d := manifest.Dir(run)
	err = errors.Join(os.Mkdir(d.Path("clients"), 0o700), os.WriteFile(d.Path(string(manifest.Launching)), nil, 0o600))
	if err != nil {
		return 0, 0, err
	}
	c, err := launcher.StartGate(launcher.Command{
		Path: b.client, Argv: []string{b.client, "wait", b.stamps.path()}, Env: []string{"LANG=C"},
		Cwd: dir, Umask: 0o022, Size: launcher.DefaultSize,
	})
	if err != nil {
		return 0, 0, err
	}
	defer func() {
		end(c.Process.PID)
		c.Wait()
		err = errors.Join(err, c.PTY.Close(), os.RemoveAll(run))
	}()
	// What a supervisor does while its gate comes up.
	life, lerr := lock.Acquire(context.Background(), run, "session", lock.Life, "bench", 0)
	aerr := d.Advance(manifest.Launching, manifest.Supervised)
	socket, serr := protocol.Listen(d.Path("socket"))
	if err := errors.Join(lerr, aerr, serr); err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, socket.Close(), life.Release()) }()
	err = errors.Join(
		d.WriteNative(manifest.Native{Provider: "bench", NativeID: "n", Source: "chosen"}),
		d.WriteSupervisor(manifest.Supervisor{Process: clients.Self(), Phase: manifest.PhaseStarting}),
		clients.WriteReceipt(run, clients.Receipt{Process: c.Process, Session: "s", Run: "r", Attempt: 1, Provider: "bench", Executable: b.client}),
		d.FinishLaunch(),
	)
	if err != nil {
		return 0, 0, err
	}
	renamed := clock()
	if err := c.Open(); err != nil {
		return 0, 0, err
	}
	opened = time.Duration(clock() - renamed)
	at, _, err := b.stamps.next()
	return opened, time.Duration(at - renamed), err
}
