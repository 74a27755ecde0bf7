package main

import (
	"os"
	"os/exec"
)

// busyLoops is how many processes make the machine "loaded", at nice 0.
const busyLoops = 2

// load starts the busy loops; calm ends them.
func load() (calm func()) {
	var loops []*exec.Cmd
	for range busyLoops {
		c := exec.Command("sh", "-c", "while :; do :; done")
		dieWithUs(c)
		if err := c.Start(); err == nil {
			loops = append(loops, c)
		}
	}
	return func() {
		for _, c := range loops {
			c.Process.Signal(os.Kill) //nolint:errcheck // it cannot end by itself
			c.Wait()                  //nolint:errcheck // killed
		}
	}
}
