package main

import (
	"time"
)

// benchEcho measures a key: typed into the terminal until the client's answer is
// there.
func benchEcho(b *bench) error {
	ways, err := b.ways("echo")
	if err != nil {
		return err
	}
	if err := warmUp(ways); err != nil {
		return err
	}
	return b.idleAndLoaded(func(load string) error {
		rows := make([]row, len(ways))
		for i := range b.rounds(1000, 5000) {
			key := string("#%"[i%2]) // in no escape sequence that a terminal is sent here
			for j, x := range ways {
				began := time.Now()
				if err := x.until(key, key); err != nil {
					return err
				}
				rows[j].name = x.name
				rows[j].sample = append(rows[j].sample, time.Since(began))
				time.Sleep(time.Millisecond) // nobody types faster; late output is not the next one's
			}
		}
		table("key echo, "+load, "bare PTY", rows)
		if load == "idle" {
			bare, berth := pick(rows, "bare PTY"), pick(rows, "berth open, mirrored in tmux")
			within("echo p50 ≤ bare + 0.3 ms", berth.at(50), bare.at(50)+300*time.Microsecond)
			if d := pick(rows, "dtach -a"); len(d) > 0 {
				within("echo p99 ≤ 2 × dtach", berth.at(99), 2*d.at(99))
			}
		}
		return nil
	})
}

// warmUp waits until every way is through and quiet.
func warmUp(ways []*way) error {
	for _, x := range ways {
		x.settle()
		if err := x.until("@", "@"); err != nil {
			return err
		}
		x.settle()
	}
	return nil
}

// pick is the sample of the row called name; nil if there is none.
func pick(rows []row, name string) sample {
	for _, r := range rows {
		if r.name == name {
			return r.sample
		}
	}
	return nil
}
