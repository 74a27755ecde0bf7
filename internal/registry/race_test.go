package registry

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/session"
)

func TestGoroutinesLoseNoUpdate(t *testing.T) {
	const writers, each = 20, 20
	path := filepath.Join(t.TempDir(), "berth.db")
	dbs := []*DB{open(t, path), open(t, path)}
	create(t, dbs[0], example("a", counts(writers)))
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for range each {
				if _, err := count(t.Context(), dbs[w%2], w); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	s, err := dbs[0].Session(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	for w, n := range strings.Fields(s.Title) {
		if n != strconv.Itoa(each) {
			t.Errorf("writer %d: %s updates of %d are there", w, n, each)
		}
	}
	if s.Version != 1+writers*each {
		t.Errorf("version %d after %d updates", s.Version, writers*each)
	}
}

func TestKilledProcessesLoseNoUpdate(t *testing.T) {
	const writers, kills = 8, 40
	path := filepath.Join(t.TempDir(), "berth.db")
	db := open(t, path)
	create(t, db, example("a", counts(writers)))

	acknowledged := make([]int, writers) // each entry is its writer's, until wg.Wait
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for k := range kills / writers {
				cmd := child("counter", path, strconv.Itoa(w))
				cmd.Stderr = os.Stderr
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Error(err)
					return
				}
				if err := cmd.Start(); err != nil {
					t.Error(err)
					return
				}
				// Killed at another moment each time, the first acknowledgement given.
				var kill *time.Timer
				for lines := bufio.NewScanner(out); lines.Scan(); {
					if acknowledged[w], err = strconv.Atoi(lines.Text()); err != nil {
						t.Error(err)
					}
					if kill == nil {
						kill = time.AfterFunc(time.Duration(7*w+5*k)*time.Millisecond, func() { cmd.Process.Kill() })
					}
				}
				if err := cmd.Wait(); kill == nil {
					t.Errorf("writer %d ended by itself: %v", w, err)
				} else {
					kill.Stop()
				}
			}
		})
	}
	wg.Wait()

	s, err := db.Session(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for w, field := range strings.Fields(s.Title) {
		n, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		total += n
		if lost := acknowledged[w] - n; lost > 0 {
			t.Errorf("writer %d: %d acknowledged updates of %d are lost", w, lost, acknowledged[w])
		}
	}
	t.Logf("%d updates by %d writers, killed %d times", total, writers, kills)
	if s.Version != int64(1+total) {
		t.Errorf("version %d after %d updates", s.Version, total)
	}
	var verdict string
	if err := db.sql.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity: %s %v", verdict, err)
	}
	if _, err := db.sql.Exec("INSERT INTO search (search, rank) VALUES ('integrity-check', 1)"); err != nil {
		t.Errorf("search index: %v", err)
	}
}

// countForever is a writer process: it counts until it is killed, and says each
// count once it is recorded.
func countForever(args []string) error {
	w, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	db, err := Open(context.Background(), args[0])
	if err != nil {
		return err
	}
	for {
		n, err := count(context.Background(), db, w)
		if err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// counts is the title in which so many writers count.
func counts(writers int) string { return strings.TrimSpace(strings.Repeat("0 ", writers)) }

// count adds one to the writer's count in the title of session "a", by
// compare-and-set, and returns it.
func count(ctx context.Context, db *DB, writer int) (int, error) {
	for {
		s, err := db.Session(ctx, "a")
		if err != nil {
			return 0, err
		}
		fields := strings.Fields(s.Title)
		n, err := strconv.Atoi(fields[writer])
		if err != nil {
			return 0, err
		}
		fields[writer] = strconv.Itoa(n + 1)
		_, err = db.Update(ctx, "a", s.Version, func(s *Session) error {
			s.Title = strings.Join(fields, " ")
			return nil
		})
		if err == nil || session.ClassOf(err) != session.Stale {
			return n + 1, err
		}
	}
}
