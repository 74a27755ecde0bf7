package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// idleFor is how long idle sessions are watched.
const idleFor = 20 * time.Second

// kinds of processes in a home, by the word after the program in their argv.
var kinds = []string{"supervise", "serve-conversation", "demo-agent", "tmux"}

// usage is what processes of one kind use.
type usage struct {
	count    int
	cpu      time.Duration
	pssBytes int64
}

// benchIdle measures what sessions cost that nobody talks to.
func benchIdle(b *bench) error {
	w, err := b.newWorld("/dev/shm")
	if err != nil {
		return err
	}
	n := b.rounds(20, 100)
	for range n {
		if _, err := w.run("new", "demo", "--", "hello"); err != nil {
			return err
		}
	}
	time.Sleep(3 * time.Second) // what follows the start is over
	before, err := w.usage()
	if err != nil {
		return err
	}
	time.Sleep(idleFor)
	after, err := w.usage()
	if err != nil {
		return err
	}
	fmt.Printf("\nidle: %d demo sessions for %v, home on tmpfs\n  %-44s %5s %12s %14s\n", n, idleFor, "", "n", "% of a core", "PSS/session")
	var ours usage
	for _, k := range kinds {
		u := usage{after[k].count, after[k].cpu - before[k].cpu, after[k].pssBytes}
		name := "berth " + k
		switch k {
		case "tmux":
			name = "tmux server"
		case "demo-agent":
			name += " (the client: not ours to count)"
		default:
			ours = usage{ours.count + u.count, ours.cpu + u.cpu, ours.pssBytes + u.pssBytes}
		}
		fmt.Printf("  %-44s %5d %12.4f %10.2f MiB\n", name, u.count, percent(u.cpu), mib(u.pssBytes)/float64(n))
	}
	per100 := percent(ours.cpu) * 100 / float64(n)
	bar("CPU of all our processes, for 100 sessions", fmt.Sprintf("%.4f %%", per100), "0.1 %", per100 < 0.1)
	pss := mib(ours.pssBytes) / float64(n)
	bar("PSS per session, all our processes", fmt.Sprintf("%.2f MiB", pss), "5 MiB", pss <= 5)
	return nil
}

func percent(cpu time.Duration) float64 { return 100 * cpu.Seconds() / idleFor.Seconds() }
func mib(bytes int64) float64           { return float64(bytes) / (1 << 20) }

// usage adds up the processes of the home by kind.
func (w *world) usage() (map[string]usage, error) {
	all := map[string]usage{}
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		environ, err := os.ReadFile(dir + "/environ")
		if err != nil || !bytes.Contains(environ, []byte("BERTH_HOME="+w.home+"\x00")) {
			continue
		}
		cmdline, err := os.ReadFile(dir + "/cmdline")
		if err != nil {
			continue
		}
		kind := "tmux"
		if argv := strings.Split(string(cmdline), "\x00"); len(argv) > 1 && strings.HasSuffix(argv[0], "berth") {
			kind = argv[1]
		}
		u := all[kind]
		u.count++
		u.cpu += cpuTime(dir)
		u.pssBytes += pss(dir)
		all[kind] = u
	}
	return all, nil
}

// cpuTime is the time on a processor of all threads. The kernel's clock ticks of
// /proc/PID/stat are too coarse for idle processes.
func cpuTime(dir string) (d time.Duration) {
	threads, _ := filepath.Glob(dir + "/task/*/schedstat")
	for _, t := range threads {
		text, _ := os.ReadFile(t)
		if f := strings.Fields(string(text)); len(f) > 0 {
			ns, _ := strconv.ParseInt(f[0], 10, 64)
			d += time.Duration(ns)
		}
	}
	return d
}

// pss is the memory of a process in bytes, its share of what it shares.
func pss(dir string) int64 {
	text, _ := os.ReadFile(dir + "/smaps_rollup")
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "Pss:" {
			kib, _ := strconv.ParseInt(f[1], 10, 64)
			return kib << 10
		}
	}
	return 0
}
