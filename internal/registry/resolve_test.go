package registry

import (
	"fmt"
	"strings"
	"testing"

	"berth/internal/session"
)

func TestResolve(t *testing.T) {
	db := fresh(t)
	for _, id := range []string{
		"7k3fq2m9x0abcdef", "7k3fzzzzzzzzzzzz", "0m4zr8t1c9ab77xq",
		"task-1:inv:flow:build:1", "task-1:inv:flow:build:12", "ab",
	} {
		create(t, db, example(id, "Title of "+id))
	}
	for i := range 10 {
		create(t, db, example(fmt.Sprintf("many%04d00000000", i), "One"))
	}
	for name, c := range map[string]struct {
		ref, want string
		class     session.Class
		words     []string
	}{
		"whole id":                        {ref: "7k3fq2m9x0abcdef", want: "7k3fq2m9x0abcdef"},
		"unique prefix":                   {ref: "7k3fq", want: "7k3fq2m9x0abcdef"},
		"upper case and look-alikes":      {ref: "OM4ZR8TLC", want: "0m4zr8t1c9ab77xq"},
		"shorter than a prefix, but all":  {ref: "ab", want: "ab"},
		"a review's id, prefix of other":  {ref: "task-1:inv:flow:build:1", want: "task-1:inv:flow:build:1"},
		"prefix with i and l as they are": {ref: "task-1:inv:flow:build:12", want: "task-1:inv:flow:build:12"},
		"ambiguous": {ref: "7k3f", class: session.NotFound,
			words: []string{"7k3f may be", "7k3fq2m9x0abcdef (Title of 7k3fq2m9x0abcdef)", "7k3fzzzzzzzzzzzz"}},
		"ambiguous, many": {ref: "many", class: session.NotFound, words: []string{"many00070000", ", …", "more characters"}},
		"none":            {ref: "zzzz", class: session.NotFound, words: []string{"no session zzzz", "berth list --all"}},
		"too short":       {ref: "7k3", class: session.Usage, words: []string{"7k3 is too short", "4"}},
		"empty":           {ref: "", class: session.Usage, words: []string{`""`}},
		"longer than all": {ref: "7k3fq2m9x0abcdef0", class: session.NotFound},
		"wildcards":       {ref: "7k3%", class: session.NotFound, words: []string{`"7k3%"`}},
		"control":         {ref: "\x1b[2J\x00\xff", class: session.NotFound, words: []string{`"\x1b[2J\x00\xff"`}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := db.Resolve(t.Context(), c.ref)
			if c.class != 0 {
				wantError(t, err, c.class, c.words...)
			} else if err != nil || got != c.want {
				t.Errorf("%q (%v), want %q", got, err, c.want)
			}
		})
	}
	_, err := db.Resolve(t.Context(), "many")
	if strings.Contains(err.Error(), "many0008") {
		t.Errorf("more than eight candidates: %v", err)
	}
}

func TestResolveRun(t *testing.T) {
	db := fresh(t)
	run := newRun()
	run.ID = "0m4zr8t1c9ab77xq"
	made, err := db.CreateSession(t.Context(), example("7k3fq2m9x0abcdef", "Flaky test"), run, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := db.ResolveRun(t.Context(), "OM4Z"); err != nil || got.ID != run.ID || got.SessionID != made.ID || got.Seq != 1 {
		t.Error(got, err)
	}
	_, err = db.ResolveRun(t.Context(), "7k3fq")
	wantError(t, err, session.NotFound, "no run 7k3fq")
	again := newRun()
	again.ID = "0m4zzzzzzzzzzzzz"
	if _, err := db.AddRun(t.Context(), made.ID, AnyVersion, again); err != nil {
		t.Fatal(err)
	}
	_, err = db.ResolveRun(t.Context(), "0m4z")
	wantError(t, err, session.NotFound, run.ID+" (Flaky test)", again.ID)
}

// FuzzResolve compares Resolve with a walk over all ids.
func FuzzResolve(f *testing.F) {
	ids := []string{"7k3fq2m9x0abcdef", "7k3fq2zzzzzzzzzz", "7k1111", "task-1:inv:f:n:1", "task-1:inv:f:n:12", "%%%%", "_ab_", "ab", "é1é1é1", "TASK-1"}
	db := fresh(f)
	for _, id := range ids {
		create(f, db, example(id, "T"))
		f.Add(id)
	}
	for _, ref := range []string{"", "7k3", "7K3F", "7KIL", "task", "TASK", "%", "____", "\x00", "7k3f\x00", "\xff\xff\xff\xff", "é1é", "ab'--"} {
		f.Add(ref)
	}
	f.Fuzz(func(t *testing.T, ref string) {
		matches := map[string]bool{}
		want := ""
		for _, spelling := range []string{session.NormalizeID(ref), ref} { // the last whole id wins
			for _, id := range ids {
				if id == spelling {
					want = id
				}
				if strings.HasPrefix(id, spelling) {
					matches[id] = true
				}
			}
		}
		if want == "" && len(ref) >= session.MinPrefix && len(matches) == 1 {
			for id := range matches {
				want = id
			}
		}
		got, err := db.Resolve(t.Context(), ref)
		switch {
		case got != want:
			t.Errorf("%q means %q (%v), want %q", ref, got, err, want)
		case want == "" && len(ref) < session.MinPrefix:
			wantError(t, err, session.Usage)
		case want == "":
			wantError(t, err, session.NotFound)
		case err != nil:
			t.Error(err)
		}
	})
}
