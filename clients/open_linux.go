package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// OpenFiles are the paths of the files that a process and those below it hold open, as
// /proc tells them. Those of processes that end meanwhile are left out.
func OpenFiles(pid int) []string {
	var paths []string
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, link := range links {
		if path, err := os.Readlink(link); err == nil && filepath.IsAbs(path) {
			paths = append(paths, path)
		}
	}
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		data, _ := os.ReadFile(list)
		for _, child := range strings.Fields(string(data)) {
			var n int
			if _, err := fmt.Sscan(child, &n); err == nil {
				paths = append(paths, OpenFiles(n)...)
			}
		}
	}
	return paths
}
