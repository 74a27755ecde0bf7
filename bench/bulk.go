package main

import (
	"fmt"
	"time"
)

// bulkBytes is how much a flooding client writes in one turn.
func (b *bench) bulkBytes() int { return b.rounds(50, 200) * 1_000_000 }

// benchBulk measures how long a terminal that takes all it can needs for much output.
func benchBulk(b *bench) error {
	ways, err := b.ways("flood", fmt.Sprint(b.bulkBytes()))
	if err != nil {
		return err
	}
	for _, x := range ways {
		x.settle()
	}
	round := 0
	return b.idleAndLoaded(func(load string) error {
		rows := make([]row, len(ways))
		for range b.rounds(5, 5) {
			round++
			for j, x := range ways {
				began := time.Now()
				if err := x.until("g", fmt.Sprintf("<end of round %d>", round)); err != nil {
					return err
				}
				rows[j].name = x.name
				rows[j].sample = append(rows[j].sample, time.Since(began))
				x.settle() // mirrors catch up on their own time
			}
		}
		table(fmt.Sprintf("bulk output, %d MB, %s", b.bulkBytes()/1_000_000, load), "bare PTY", rows)
		if load == "idle" {
			berth := pick(rows, "berth open, mirrored in tmux")
			for name, least := range map[string]float64{"dtach -a": 0.9, "abduco -a": 1.0} {
				if s := pick(rows, name); len(s) > 0 {
					atLeast("bulk speed against "+name, speed(s, berth), least)
				}
			}
			atLeast("bulk speed in tmux against tmux attach", speed(pick(rows, "tmux attach"), pick(rows, "berth in tmux attach")), 0.8)
		}
		return nil
	})
}

// speed is how fast s is, as a part of the speed of base.
func speed(base, s sample) float64 { return base.at(50).Seconds() / s.at(50).Seconds() }
