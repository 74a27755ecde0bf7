//go:build linux

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// berthBin is the binary under test, built once with the named points armed and the
// race detector on.
var berthBin string

// suite marks every process that comes of this run of the tests, so that none is
// left when it ends.
var suite = fmt.Sprintf("BERTHTEST_SUITE=%d", os.Getpid())

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if role := os.Getenv("E2E_ROLE"); role != "" { // this binary as an agent or helper process
		return play(role)
	}
	dir, err := os.MkdirTemp("", "be2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	berthBin = filepath.Join(dir, "berth")
	build := exec.Command("go", "build", "-race", "-tags", "berthtest", "-o", berthBin, "berth")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "cannot build berth:", err)
		return 1
	}
	code := m.Run()
	if left := marked(suite); len(left) > 0 {
		fmt.Fprintf(os.Stderr, "FAIL: processes of these tests are left: %v\n", left)
		return 1
	}
	return code
}

// marked returns "pid name" of every live process whose environment has kv.
func marked(kv string) (out []string) {
	procs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, p := range procs {
		env, err := os.ReadFile(p)
		if err != nil || !bytes.Contains(append([]byte{0}, env...), []byte("\x00"+kv+"\x00")) {
			continue
		}
		pid := strings.Split(p, "/")[2]
		if n, _ := strconv.Atoi(pid); n == os.Getpid() {
			continue
		}
		cmd, _ := os.ReadFile("/proc/" + pid + "/cmdline")
		if len(cmd) == 0 { // a zombie
			continue
		}
		out = append(out, pid+" "+strings.ReplaceAll(strings.TrimRight(string(cmd), "\x00"), "\x00", " "))
	}
	return out
}
