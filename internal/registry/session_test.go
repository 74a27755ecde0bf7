package registry

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"time"

	"berth/internal/session"
)

func TestCreateAndReadBack(t *testing.T) {
	db := fresh(t)
	summary, closed := "all\tgreen \xff", time.Now().Add(time.Hour)
	want := Session{
		ID: "task-1:inv:flow:node:1", Kind: "flow", Provider: "codex", Model: "o9", Cwd: "/src/\xfe\ncafé", CreatedAt: time.Now(),
		Title: "Naïve “title” %_", TitleSource: "generated", Restart: "on-failure",
		ReadySummary: &summary, ReadyRun: "run-1", ClosedAt: &closed,
	}
	run := Run{ID: "run-1", CreatedAt: time.Now(), Reason: "new"}
	request := bytes.Repeat([]byte{0, 0xff, '\'', '\n', 0x1a, 'é'}, 1<<20/6)
	made, err := db.CreateSession(t.Context(), want, run, request)
	if err != nil {
		t.Fatal(err)
	}
	got, err := db.Session(t.Context(), want.ID)
	if err != nil || !reflect.DeepEqual(got, made) {
		t.Errorf("read %+v (%v)\nmade %+v", got, err, made)
	}
	closed = closed.Round(0).UTC()
	want.CreatedAt, want.CurrentRun, want.Version = want.CreatedAt.Round(0).UTC(), "run-1", 1
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v\nwant %+v", got, want)
	}
	if got, err := db.Request(t.Context(), want.ID); err != nil || !bytes.Equal(got, request) {
		t.Errorf("the opening request came back as %d bytes, of %d (%v)", len(got), len(request), err)
	}
	runs, err := db.Runs(t.Context(), want.ID)
	run.SessionID, run.Seq, run.CreatedAt = want.ID, 1, run.CreatedAt.Round(0).UTC()
	if err != nil || !reflect.DeepEqual(runs, []Run{run}) {
		t.Errorf("runs %+v (%v), want %+v", runs, err, run)
	}
}

func TestNoOpeningRequest(t *testing.T) {
	db := fresh(t)
	create(t, db, example("a", "A"))
	if got, err := db.Request(t.Context(), "a"); err != nil || got != nil {
		t.Errorf("request %q (%v), want none", got, err)
	}
}

func TestCreateIsAllOrNothing(t *testing.T) {
	db := fresh(t)
	first := create(t, db, example("a", "A"))
	for name, c := range map[string]struct {
		s   Session
		run Run
	}{
		"the session exists": {example("a", "again"), newRun()},
		"the run exists":     {example("b", "B"), Run{ID: first.CurrentRun}},
		"no such kind":       {func() Session { s := example("b", "B"); s.Kind = "chat"; return s }(), newRun()},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := db.CreateSession(t.Context(), c.s, c.run, []byte("do it"))
			wantError(t, err, session.Failed, c.s.ID, db.path)
		})
	}
	page, err := db.List(t.Context(), Filter{All: true})
	if err != nil || !reflect.DeepEqual(page.Entries, []Session{first}) {
		t.Errorf("%+v (%v), want only the first", page, err)
	}
}

func TestAbsentSession(t *testing.T) {
	db := fresh(t)
	for name, call := range map[string]func() error{
		"session": func() error { _, err := db.Session(t.Context(), "none"); return err },
		"request": func() error { _, err := db.Request(t.Context(), "none"); return err },
		"runs":    func() error { _, err := db.Runs(t.Context(), "none"); return err },
		"add run": func() error { _, err := db.AddRun(t.Context(), "none", 1, newRun()); return err },
		"update": func() error {
			_, err := db.Update(t.Context(), "none", 1, func(*Session) error { panic("called") })
			return err
		},
		"list after": func() error { _, err := db.List(t.Context(), Filter{After: "none"}); return err },
	} {
		t.Run(name, func(t *testing.T) { wantError(t, call(), session.NotFound, "none", "berth list --all") })
	}
}

func TestUpdate(t *testing.T) {
	db := fresh(t)
	s := create(t, db, example("a", "Old"))
	title := func(to string) func(*Session) error {
		return func(s *Session) error { s.Title = to; return nil }
	}
	s, err := db.Update(t.Context(), "a", s.Version, title("New"))
	if err != nil || s.Title != "New" || s.Version != 2 {
		t.Fatal(s, err)
	}
	_, err = db.Update(t.Context(), "a", 1, title("Late"))
	wantError(t, err, session.Stale, "session a", "version 2, not 1", "berth show a")
	if s, err = db.Update(t.Context(), "a", AnyVersion, title("Any")); err != nil || s.Version != 3 {
		t.Fatal(s, err)
	}
	if s, err = db.Update(t.Context(), "a", 3, title("Any")); err != nil || s.Version != 3 {
		t.Error("a change that changes nothing made a version:", s, err)
	}
	refusal := errors.New("no")
	_, err = db.Update(t.Context(), "a", 3, func(s *Session) error { s.Title = "half"; return refusal })
	if err != refusal {
		t.Error("refusal came back as", err)
	}
	got, err := db.Session(t.Context(), "a")
	if err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("%+v (%v), want %+v", got, err, s)
	}
}

func TestUpdateThroughAPointer(t *testing.T) {
	db := fresh(t)
	s := create(t, db, example("a", "A"))
	say := func(text string) {
		t.Helper()
		var err error
		s, err = db.Update(t.Context(), "a", s.Version, func(s *Session) error {
			if s.ReadySummary == nil {
				s.ReadySummary, s.ReadyRun = new(string), s.CurrentRun
			}
			*s.ReadySummary = text
			return nil
		})
		if got, e := db.Session(t.Context(), "a"); err != nil || e != nil || *got.ReadySummary != text {
			t.Fatal(got, err, e)
		}
	}
	say("done")
	say("really done")
}

func TestUpdateMayNotTouchWhatIsFixed(t *testing.T) {
	db := fresh(t)
	create(t, db, example("a", "A"))
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		db.Update(t.Context(), "a", AnyVersion, func(s *Session) error { s.Cwd = "/"; return nil }) //nolint:errcheck // panics
	}()
	if s, err := db.Session(t.Context(), "a"); err != nil || s.Cwd != "/src/shop" {
		t.Error(s, err)
	}
}

func TestAddRun(t *testing.T) {
	db := fresh(t)
	s := create(t, db, example("a", "A"))
	second := newRun()
	second.Reason = "fresh"
	s, err := db.AddRun(t.Context(), "a", s.Version, second)
	if err != nil || s.Version != 2 || s.CurrentRun != second.ID {
		t.Fatal(s, err)
	}
	if got, err := db.Session(t.Context(), "a"); err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("%+v (%v), want %+v", got, err, s)
	}
	_, err = db.AddRun(t.Context(), "a", 1, newRun())
	wantError(t, err, session.Stale, "session a")
	_, err = db.AddRun(t.Context(), "a", 2, second)
	wantError(t, err, session.Failed, second.ID, db.path)
	runs, err := db.Runs(t.Context(), "a")
	if err != nil || len(runs) != 2 || runs[1].ID != second.ID || runs[1].Seq != 2 || runs[1].Reason != "fresh" {
		t.Errorf("%+v %v", runs, err)
	}
}
