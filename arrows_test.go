package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// modules are the short names by which the table in ARCHITECTURE.md calls what is
// not ours.
var modules = map[string]string{
	"github.com/urfave/cli/v2": "urfave/cli", "github.com/creack/pty": "creack/pty", "github.com/fsnotify/fsnotify": "fsnotify",
	"github.com/gofrs/flock": "gofrs/flock", "github.com/pelletier/go-toml/v2": "go-toml", "modernc.org/sqlite": "modernc/sqlite",
	"golang.org/x/sys": "x/sys", "golang.org/x/term": "x/term",
}

// The arrows between packages are those of the table in ARCHITECTURE.md.
func TestArrows(t *testing.T) {
	allowed := table(t)
	for _, goos := range []string{"linux", "darwin"} {
		seen := map[string]bool{}
		for pkg, imports := range imports(t, goos) {
			if pkg == "bench" || strings.HasPrefix(pkg, "bench/") || pkg == "internal/e2e" {
				continue // programs beside the house: nothing imports them
			}
			seen[pkg] = true
			row, ok := allowed[pkg]
			if !ok {
				t.Errorf("%s: package %s has no row in ARCHITECTURE.md", goos, pkg)
				continue
			}
			for _, imp := range imports {
				if !slices.Contains(row, imp) {
					t.Errorf("%s: %s imports %s, and ARCHITECTURE.md says nothing of it", goos, pkg, imp)
				}
				if imp == "internal/e2e" || strings.HasPrefix(imp, "bench") {
					t.Errorf("%s: %s imports %s, which nothing may", goos, pkg, imp)
				}
			}
		}
		for pkg := range allowed {
			if !seen[pkg] {
				t.Errorf("%s: ARCHITECTURE.md has a row for %s, and there is no such package", goos, pkg)
			}
		}
	}
}

// table reads the rows: the package, and the words of its last column.
func table(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "## Who may import whom")
	if !ok {
		t.Fatal("ARCHITECTURE.md has no section on imports")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	rows := map[string][]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|.*\\|(.*)\\|$").FindAllStringSubmatch(section, -1) {
		rows[m[1]] = strings.Fields(strings.ReplaceAll(m[2], "`", ""))
	}
	if len(rows) < 10 {
		t.Fatalf("only %d rows found in ARCHITECTURE.md", len(rows))
	}
	return rows
}

// imports are the arrows that the code has, standard library left out, by the names
// of the table.
func imports(t *testing.T, goos string) map[string][]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	arrows := map[string][]string{}
	d := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return arrows
		} else if err != nil {
			t.Fatal(err)
		}
		name, ours := strings.CutPrefix(p.ImportPath, "berth/")
		if !ours {
			name = "main"
		}
		arrows[name] = nil
		for _, imp := range p.Imports {
			if inner, ours := strings.CutPrefix(imp, "berth/"); ours {
				arrows[name] = append(arrows[name], inner)
				continue
			}
			if first, _, _ := strings.Cut(imp, "/"); !strings.Contains(first, ".") {
				continue
			}
			short := imp
			for module, s := range modules {
				if imp == module || strings.HasPrefix(imp, module+"/") {
					short = s
				}
			}
			arrows[name] = append(arrows[name], short)
		}
	}
}
