package control

import (
	"os"
	"path/filepath"
	"strings"
)

// gitPlace is the top of the git work tree that dir is in, and of the repository it
// belongs to; "" where there is none. It reads files only: git may be missing, slow,
// or somebody else's.
func gitPlace(dir string) (worktree, repo string) {
	for at := dir; ; at = filepath.Dir(at) {
		st, err := os.Lstat(filepath.Join(at, ".git"))
		switch {
		case err == nil && st.IsDir():
			return at, at
		case err == nil: // a linked work tree: a file that says where its repository is
			b, err := os.ReadFile(filepath.Join(at, ".git"))
			if err != nil {
				return at, ""
			}
			to := strings.TrimSpace(strings.TrimPrefix(string(b), "gitdir:"))
			if main, _, ok := strings.Cut(to, "/.git/worktrees/"); ok {
				return at, main
			}
			return at, at
		case at == filepath.Dir(at):
			return "", ""
		}
	}
}
