package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"berth/clients"
	"berth/internal/home"
	"berth/internal/registry"
	"berth/internal/session"
	"berth/manifest"
)

// benchList measures the whole process of berth list with 1,000 sessions whose
// receipts name a live process, beside a command that opens nothing.
func benchList(b *bench) error {
	w, err := b.filled(1000, func(int) bool { return true })
	if err != nil {
		return err
	}
	return b.idleAndLoaded(func(load string) error {
		rows, err := w.whole(b.rounds(30, 100), []asked{
			{"berth version (starts, opens nothing)", []string{"version"}},
			{"berth list, 1,000 live", []string{"list", "--limit", "1000"}},
			{"berth list --json, 1,000 live", []string{"list", "--limit", "1000", "--json"}},
		})
		if err != nil {
			return err
		}
		table("list: whole process, receipts checked, home on tmpfs, "+load, rows[0].name, rows)
		if load == "idle" {
			within("list of 1,000 p50", rows[1].at(50), 40*time.Millisecond)
		}
		return nil
	})
}

// Of the 100,000 sessions of benchPage, every so many have the words looked for.
const (
	pageSessions = 100_000
	needleEvery  = 250
	needle       = "flaky login"
)

// benchPage measures a page of 100 from 100,000 sessions with filter and search. The
// sessions on the page have receipts of a live process.
func benchPage(b *bench) error {
	w, err := b.filled(pageSessions, func(i int) bool { return i%needleEvery == 0 && i >= pageSessions-120*needleEvery })
	if err != nil {
		return err
	}
	db, err := registry.Open(context.Background(), w.home+"/berth.db")
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // only read
	filter := registry.Filter{Provider: "chosen", Search: needle, Limit: 100}
	return b.idleAndLoaded(func(load string) error {
		query := row{name: "  of it, the registry's query"}
		for range b.rounds(30, 100) {
			began := time.Now()
			page, err := db.List(context.Background(), filter)
			if err != nil || len(page.Entries) != 100 {
				return fmt.Errorf("a page of %d sessions: %w", len(page.Entries), err)
			}
			query.sample = append(query.sample, time.Since(began))
		}
		rows, err := w.whole(b.rounds(30, 100), []asked{
			{"berth version (starts, opens nothing)", []string{"version"}},
			{"berth list --page --json", []string{"list", "--page", "--json", "--limit", "100", "--provider", filter.Provider, "--search", needle}},
		})
		if err != nil {
			return err
		}
		table("page: 100 of 100,000 by provider and search, whole process, home on tmpfs, "+load, rows[0].name, append(rows, query))
		if load == "idle" {
			within("page p50", rows[1].at(50), 12*time.Millisecond)
		}
		return nil
	})
}

type asked struct {
	name string
	args []string
}

// whole measures whole processes of berth, turn by turn.
func (w *world) whole(rounds int, asked []asked) ([]row, error) {
	rows := make([]row, len(asked))
	for i := range rounds + 1 {
		for j, a := range asked {
			c := w.command(a.args...)
			began := time.Now()
			if err := c.Run(); err != nil {
				return nil, fmt.Errorf("berth %v: %w", a.args, err)
			}
			rows[j].name = a.name
			if i > 0 { // the first turn warms the caches
				rows[j].sample = append(rows[j].sample, time.Since(began))
			}
		}
	}
	return rows, nil
}

// filled is a world of n sessions; those that live is true of have a run directory
// with all evidence of a live client, which is one sleeping process for all.
func (b *bench) filled(n int, live func(i int) bool) (*world, error) {
	w, err := b.newWorld("/dev/shm")
	if err != nil {
		return nil, err
	}
	sleeper := exec.Command("sleep", "1000000")
	if err := sleeper.Start(); err != nil {
		return nil, err
	}
	b.onClose(func() error {
		err := sleeper.Process.Kill()
		sleeper.Wait() //nolint:errcheck // killed
		return err
	})
	process, err := clients.Of(sleeper.Process.Pid)
	if err != nil {
		return nil, err
	}
	h, err := home.Open(w.home)
	if err != nil {
		return nil, err
	}
	db, err := registry.Open(context.Background(), h.Registry())
	if err != nil {
		return nil, err
	}
	for i := range n {
		s := registry.Session{
			ID: session.NewID(), Kind: "conversation", Provider: "chosen", Cwd: w.dir, CreatedAt: time.Now(),
			Title: fmt.Sprint("refactor the parser of module ", i), TitleSource: "human", Restart: "never",
		}
		if i%needleEvery == 0 {
			s.Title = fmt.Sprint("fix the Flaky Login test ", i)
		}
		run := registry.Run{ID: session.NewID(), CreatedAt: s.CreatedAt, Reason: "new"}
		if s, err = db.CreateSession(context.Background(), s, run, nil); err != nil {
			break
		}
		if live(i) {
			if err = liveRun(manifest.Dir(h.Run(run.ID)), s, process); err != nil {
				break
			}
		}
	}
	return w, errors.Join(err, db.Close())
}

// liveRun writes the evidence that a supervisor leaves of a running client.
func liveRun(d manifest.Dir, s registry.Session, process clients.Identity) error {
	now := time.Now().UTC().Format(time.RFC3339Nano)
	here := clients.Machine()
	err := manifest.Publish(d, manifest.Manifest{
		Run: s.CurrentRun, Session: s.ID, Kind: s.Kind, Provider: s.Provider, Cwd: s.Cwd, CreatedAt: now,
		Host: here.Host, Boot: here.Boot, PIDNS: here.PIDNS, Executable: manifest.Executable{Path: os.Args[0]},
		EnvNames: []string{"HOME", "LANG", "PATH", "TERM"}, Env: map[string]string{"PATH": os.Getenv("PATH")},
	})
	return errors.Join(err,
		clients.WriteReceipt(string(d), clients.Receipt{Process: process, Session: s.ID, Run: s.CurrentRun, Attempt: 1, Provider: s.Provider, Executable: os.Args[0], StartedAt: time.Now()}),
		d.WriteNative(manifest.Native{Provider: s.Provider, NativeID: s.ID, Source: "chosen", Recorded: true, ObservedAt: now}),
		d.WriteSupervisor(manifest.Supervisor{Process: process, Since: now, Phase: manifest.PhaseRunning, PhaseSince: now, Attempt: 1, Ready: true, Prompt: "sent",
			Hosts: []manifest.Host{{Kind: manifest.HostTmux, Process: process, Pane: "%1", Keyboard: true, Since: now}}}),
	)
}
