package main

import (
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// endOfScreen is the last the client writes, so the last of a picture that is drawn
// from top to bottom.
const endOfScreen = "<end of screen>"

// benchMove measures how long a conversation takes to come to another terminal: from
// the start of the command until the whole picture is there. Beside it tmux shows the
// same screen, its client taken from another terminal.
func benchMove(b *bench) error {
	w, err := b.newWorld("/dev/shm")
	if err != nil {
		return err
	}
	t, err := b.newTmux()
	if err != nil {
		return err
	}
	for _, role := range []string{"still", "spinner", "text"} {
		if err := t.run("new-session", "-d", "-s", role, b.client, role, b.stamps.path()); err != nil {
			return err
		}
		_, pid, err := b.stamps.next()
		b.onClose(func() error { end(pid); return nil })
		if err != nil {
			return err
		}
		id, err := w.run("new", role)
		if err != nil {
			return err
		}
		if _, _, err := b.stamps.next(); err != nil {
			return err
		}
		if err := b.idleAndLoaded(func(load string) error { return b.moveRound(t, w, role, id, load) }); err != nil {
			return err
		}
	}
	return nil
}

// moves are what comes before the screen that is moved, by the client's role.
var moves = map[string]string{"still": "", "spinner": ", after 10 minutes of a spinner", "text": ", after 10 MB of text"}

func (b *bench) moveRound(t rawTmux, w *world, role, id, load string) error {
	rows := []row{{name: "tmux attach -d"}, {name: "berth move"}}
	for i := range b.rounds(30, 200) + 1 {
		for j, c := range []func() (*way, error){
			func() (*way, error) {
				return b.terminal(rows[0].name, t.command("attach-session", "-d", "-t", "="+role))
			},
			func() (*way, error) { return b.terminal(rows[1].name, w.command("move", id)) },
		} {
			began := time.Now()
			x, err := c()
			if err != nil {
				return err
			}
			if err := x.until("", endOfScreen); err != nil {
				return err
			}
			if i > 0 { // the first finds no holder
				rows[j].sample = append(rows[j].sample, time.Since(began))
			}
			go x.settle() // until its terminal ends
		}
	}
	table("move"+moves[role]+": command start → picture complete, "+load, rows[0].name, rows)
	if load == "idle" {
		within("move p50 ≤ 25 ms", rows[1].at(50), 25*time.Millisecond)
		within("move p99 ≤ 60 ms", rows[1].at(99), 60*time.Millisecond)
	}
	return nil
}

// benchReplace measures a replace, from the start of the command to the next client's
// first instruction. Our own part of it is what is left without the client's end, which
// takes a signal, and its start, which takes what a plain one does.
func benchReplace(b *bench) error {
	for _, p := range places() {
		w, err := b.newWorld(p.dir)
		if err != nil {
			return err
		}
		id, err := w.run("new", "still")
		if err != nil {
			return err
		}
		_, pid, err := b.stamps.next()
		if err != nil {
			return err
		}
		err = b.idleAndLoaded(func(load string) error {
			rows := []row{{name: "the client's own end"}, {name: "the client's own start"}, {name: "berth open --replace"}}
			for range b.rounds(30, 200) {
				own, start, err := b.ownEndAndStart()
				if err != nil {
					return err
				}
				rows[0].sample, rows[1].sample = append(rows[0].sample, own), append(rows[1].sample, start)
				d, next, err := b.stamps.took(func() error {
					x, err := b.terminal("replace", w.command("open", "--replace", id))
					if err == nil {
						go x.settle()
					}
					return err
				})
				if err != nil {
					return err
				}
				if next == pid {
					return fmt.Errorf("replace left client %d", pid)
				}
				pid = next
				rows[2].sample = append(rows[2].sample, d)
				time.Sleep(400 * time.Millisecond) // the host has joined, and everybody is quiet
			}
			table("replace: command start → next client's first instruction, home on "+p.name+", "+load, "", rows)
			if load == "idle" && p.name == "tmpfs" {
				within("replace p50, without the client's end and start ≤ 30 ms", rows[2].at(50)-rows[0].at(50)-rows[1].at(50), 30*time.Millisecond)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ownEndAndStart starts the client in a plain terminal, and ends it as its provider
// would be.
func (b *bench) ownEndAndStart() (ended, started time.Duration, err error) {
	var x *way
	started, pid, err := b.stamps.took(func() (err error) {
		x, err = b.terminal("alone", exec.Command(b.client, "still", b.stamps.path()))
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	x.settle()
	began := time.Now()
	syscall.Kill(pid, syscall.SIGTERM) //nolint:errcheck // it is there
	for range x.seen {                 // until its terminal ends
	}
	return time.Since(began), started, nil
}
