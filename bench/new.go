package main

import (
	"fmt"
	"time"
)

// benchNew measures how long a start takes: from the start of the command to the
// first instruction of the client. Both sides start the same program with a server
// that runs already. "chosen" is what new demo does; "none" has no native id to keep.
func benchNew(b *bench) error {
	t, err := b.newTmux()
	if err != nil {
		return err
	}
	for _, p := range places() {
		w, err := b.newWorld(p.dir)
		if err != nil {
			return err
		}
		if err := w.warm(); err != nil {
			return err
		}
		err = b.idleAndLoaded(func(load string) error {
			return b.newRound(t, w, fmt.Sprintf("new: command start → client's first instruction, home on %s, %s", p.name, load), p.name == "tmpfs" && load == "idle")
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) newRound(t rawTmux, w *world, title string, judge bool) error {
	rows := []row{{name: "tmux new-session -d"}, {name: "berth new, native id none"}, {name: "berth new, native id chosen (as demo)"}, {name: "  … until the command returns"}}
	for range b.rounds(30, 200) {
		d, pid, err := b.stamps.took(func() error { return t.run("new-session", "-d", b.client, "wait", b.stamps.path()) })
		if err != nil {
			return err
		}
		end(pid)
		rows[0].sample = append(rows[0].sample, d)
		for i, provider := range []string{"none", "chosen"} {
			var id string
			began := time.Now()
			var whole time.Duration
			d, _, err := b.stamps.took(func() (err error) {
				id, err = w.run("new", provider)
				whole = time.Since(began)
				return err
			})
			if err != nil {
				return err
			}
			rows[1+i].sample = append(rows[1+i].sample, d)
			if i == 1 {
				rows[3].sample = append(rows[3].sample, whole)
			}
			if _, err := w.run("complete", id); err != nil {
				return err
			}
		}
	}
	table(title, rows[0].name, rows)
	if judge {
		within("new p50 ≤ tmux + 15 ms", rows[2].at(50), rows[0].at(50)+15*time.Millisecond)
		within("new p90 ≤ tmux + 40 ms", rows[2].at(90), rows[0].at(90)+40*time.Millisecond)
	}
	return nil
}
