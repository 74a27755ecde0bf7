package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// watchArgv looks at the argv of every process on the machine, over and over, until
// the function it returns is called, which says where one of the marks was seen. This
// very process does not count.
func watchArgv(t *testing.T, marks ...string) (seen func() []string) {
	t.Helper()
	found := map[string]bool{}
	enough, done := make(chan struct{}), make(chan struct{})
	self := strconv.Itoa(os.Getpid())
	go func() {
		defer close(done)
		for {
			select {
			case <-enough:
				return
			default:
			}
			paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
			for _, p := range paths {
				argv, err := os.ReadFile(p)
				if err != nil || strings.Split(p, "/")[2] == self {
					continue
				}
				for _, m := range marks {
					if bytes.Contains(argv, []byte(m)) {
						found[m+" in "+strings.ReplaceAll(string(argv[:min(len(argv), 300)]), "\x00", " ")] = true
					}
				}
			}
		}
	}()
	stop := sync.OnceFunc(func() { close(enough); <-done })
	t.Cleanup(stop)
	return func() (out []string) {
		stop()
		for f := range found {
			out = append(out, f)
		}
		return out
	}
}
