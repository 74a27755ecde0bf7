package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sync"
	"time"

	"github.com/creack/pty"
)

// benchLaunches starts many conversations at once: all are to be resumable, none
// twice. Beside it tmux starts as many of the same program at once.
func benchLaunches(b *bench) error {
	many := b.rounds(40, 200)
	t, err := b.newTmux()
	if err != nil {
		return err
	}
	w, err := b.newWorld("/dev/shm")
	if err != nil {
		return err
	}
	if err := w.warm(); err != nil {
		return err
	}
	rows := []row{{name: "tmux new-session -d"}, {name: "berth new"}}
	clients := map[int]bool{}
	for i, start := range []func() error{
		func() error { return t.run("new-session", "-d", b.client, "wait", b.stamps.path()) },
		func() error { _, err := w.run("new", "chosen", "--ready-timeout", "5m"); return err },
	} {
		began := clock()
		errs := make(chan error, many)
		for range many {
			go func() { errs <- start() }()
		}
		for range many {
			at, pid, err := b.stamps.next()
			if err != nil {
				return errors.Join(err, <-errs)
			}
			if clients[pid] {
				return fmt.Errorf("client %d started twice", pid)
			}
			clients[pid] = true
			rows[i].sample = append(rows[i].sample, time.Duration(at-began))
			if i == 0 {
				b.onClose(func() error { end(pid); return nil })
			}
		}
		for range many { // berth's return when their conversations are resumable
			err = errors.Join(err, <-errs)
		}
		if err != nil {
			return err
		}
	}
	table(fmt.Sprintf("%d started at once: the first start → each client's first instruction", many), rows[0].name, rows)
	within("the last of them ≤ 4 × tmux", rows[1].at(100), 4*rows[0].at(100))
	return nil
}

// toldWho is how an open that came too late names who has the session.
var toldWho = regexp.MustCompile(`is (held|being changed) by .*\(pid \d+`)

// benchOpens has many terminals open one session at once: one gets it, and every
// other is told who has.
func benchOpens(b *bench) error {
	many := b.rounds(100, 1000)
	w, err := b.newWorld("/dev/shm")
	if err != nil {
		return err
	}
	id, err := w.run("new", "chosen")
	if err != nil {
		return err
	}
	if _, _, err := b.stamps.next(); err != nil {
		return err
	}
	lost := row{name: "berth open, refused"}
	var mu sync.Mutex // guards lost, odd
	var odd []string
	var all sync.WaitGroup
	for range many {
		c := w.command("open", id)
		ptmx, err := pty.Start(c)
		if err != nil {
			return err
		}
		began := time.Now()
		all.Go(func() {
			var said bytes.Buffer
			io.Copy(&said, ptmx) //nolint:errcheck // ends as its terminal does
			c.Wait()             //nolint:errcheck // looked at below
			ptmx.Close()         //nolint:errcheck // read to its end
			mu.Lock()
			defer mu.Unlock()
			switch told := toldWho.Match(said.Bytes()); {
			case c.ProcessState.ExitCode() == 4 && told:
				lost.sample = append(lost.sample, time.Since(began))
			default:
				odd = append(odd, fmt.Sprintf("exit %d: %s", c.ProcessState.ExitCode(), said.String()))
			}
			if len(lost.sample)+len(odd) == many-1 { // the one that is left has it
				_, err := w.run("stop", id)
				if err != nil {
					odd = append(odd, err.Error())
				}
			}
		})
	}
	all.Wait()
	table(fmt.Sprintf("%d terminals open one session at once: each one's start → its end", many), "", []row{lost})
	bar("one has it, every other is told who", fmt.Sprint(len(lost.sample), " told"), many-1, len(lost.sample) == many-1 && len(odd) == 1)
	for _, o := range odd[:min(len(odd), 5)] {
		if len(odd) > 1 {
			fmt.Printf("  not told: %.300q\n", o)
		}
	}
	return nil
}
