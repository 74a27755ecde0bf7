// Command bench measures berth beside the programs people use instead of it, and
// prints what it found: median, 90th and 99th percentile, the ratio to the program it
// is held against, and the bar of DESIGN §13. Everything in a table is measured in one
// run, turn by turn, so that a busy minute of the machine falls on all alike.
//
//	go run ./bench [-full] [-idle] [-only new,gate,list,page,idle,echo,bulk,move,replace,launches,opens]
//
// It needs tmux; dtach and abduco are measured where they are installed. It works in
// homes of its own, and ends what it started.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"

	"berth/launcher"

	"golang.org/x/sys/unix"
)

// sections in the order they are printed.
var sections = []struct {
	name string
	run  func(*bench) error
}{
	{"new", benchNew}, {"gate", benchGate}, {"list", benchList}, {"page", benchPage},
	{"idle", benchIdle}, {"echo", benchEcho}, {"bulk", benchBulk},
	{"move", benchMove}, {"replace", benchReplace}, {"launches", benchLaunches}, {"opens", benchOpens},
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "gate" { // launcher.StartGate starts this very program
		os.Exit(launcher.Gate())
	}
	full := flag.Bool("full", false, "long rounds: more turns, 100 idle sessions, 200 MB")
	idle := flag.Bool("idle", false, "not beside busy loops as well")
	only := flag.String("only", "", "only these `SECTIONS`, separated by commas")
	flag.Parse()
	if err := run(*full, *idle, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(full, idle bool, only string) (err error) {
	b, err := newBench(full, idle)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	stop := make(chan os.Signal, 1) // the first one ends us, after cleaning up
	signal.Notify(stop, unix.SIGINT, unix.SIGTERM)
	go func() {
		<-stop
		b.close() //nolint:errcheck // ending
		os.Exit(130)
	}()
	fmt.Println(machine())
	for _, s := range sections {
		if only != "" && !slices.Contains(strings.Split(only, ","), s.name) {
			continue
		}
		if err := s.run(b); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// machine is one line about where the numbers were taken.
func machine() string {
	say := func(name string, args ...string) string {
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			return name + " missing"
		}
		return strings.TrimSpace(string(out))
	}
	return fmt.Sprintf("%d cores, %s, %s, %s", runtime.NumCPU(), say("uname", "-sr"), say("tmux", "-V"), runtime.Version())
}
