package launcher

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"berth/clients"
	"berth/internal/provider"
	"berth/internal/session"
	"berth/manifest"
)

// A conversation is resumable when its manifest, its native id, its history and a
// live client are there, and what is missing is named.
func TestWhatIsMissing(t *testing.T) {
	recording := provider.Provider{Name: "it", NativeID: provider.NativeChosen, History: provider.HistoryAnnounced,
		Start: []string{"it"}, Resume: []string{"it"}, Ready: provider.ReadyAnnounced}
	byID := recording
	byID.History = ""
	none := provider.Provider{Name: "it", NativeID: provider.NativeNone, Start: []string{"it"}}
	live := clients.Self()
	dead := live
	dead.Start++ // the number belongs to another process now
	foreign := live
	foreign.Host, foreign.Boot = "elsewhere", "theirs"

	for _, c := range []struct {
		name     string
		provider provider.Provider
		native   manifest.Native
		client   clients.Identity
		super    manifest.Supervisor

		phase   session.Phase
		reason  string
		settled bool
	}{
		{"manifest alone", recording, manifest.Native{}, clients.Identity{}, manifest.Supervisor{},
			session.Starting, "its client has not started yet", false},
		{"manifest and id", recording, manifest.Native{NativeID: "n", Recorded: true}, clients.Identity{}, manifest.Supervisor{},
			session.Starting, "its client has not started yet", false},
		{"manifest, id and a live client", recording, manifest.Native{NativeID: "n", Recorded: true}, live, manifest.Supervisor{},
			session.Resumable, "", true},
		{"a live client, no id", recording, manifest.Native{}, live, manifest.Supervisor{},
			session.Running, "it has not announced a native id", false},
		{"an id without history", recording, manifest.Native{NativeID: "n"}, live, manifest.Supervisor{Prompt: "sent"},
			session.Identified, "it has not recorded the conversation yet", false},
		{"a request that waits", recording, manifest.Native{NativeID: "n"}, live, manifest.Supervisor{Prompt: "waiting"},
			session.Identified, "it is not ready for the opening request yet", false},
		{"nothing was said, not ready", recording, manifest.Native{NativeID: "n"}, live, manifest.Supervisor{Prompt: "none"},
			session.Identified, session.NothingSaid, false},
		{"nothing was said", recording, manifest.Native{NativeID: "n"}, live, manifest.Supervisor{Prompt: "none", Ready: true},
			session.Identified, session.NothingSaid, true},
		{"an id that suffices", byID, manifest.Native{NativeID: "n"}, live, manifest.Supervisor{},
			session.Resumable, "", true},
		{"an id that would suffice, a request that waits", byID, manifest.Native{NativeID: "n"}, live, manifest.Supervisor{Prompt: "waiting"},
			session.Identified, "it is not ready for the opening request yet", false},
		{"a provider that cannot resume", none, manifest.Native{}, live, manifest.Supervisor{},
			session.Running, "provider cannot resume", true},
		{"the client has ended", recording, manifest.Native{NativeID: "n", Recorded: true}, dead, manifest.Supervisor{Process: dead},
			session.Ended, "its client has ended", true},
		{"the client has ended, its supervisor has not said how", recording, manifest.Native{NativeID: "n", Recorded: true}, dead,
			manifest.Supervisor{Process: live, Phase: manifest.PhaseRunning}, session.Ended, "its client has ended", false},
		{"the client has ended, the next one follows", recording, manifest.Native{NativeID: "n", Recorded: true}, dead,
			manifest.Supervisor{Process: live, Phase: manifest.PhaseBackoff}, session.Ended, "its client has ended", false},
		{"a client of another machine", recording, manifest.Native{NativeID: "n", Recorded: true}, foreign, manifest.Supervisor{},
			session.PhaseUnknown, "it was started on another host (elsewhere)", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := manifest.Dir(filepath.Join(t.TempDir(), "ab", "run"))
			if err := manifest.Publish(d, manifest.Manifest{Run: "run", Session: "s", Provider: "it"}); err != nil {
				t.Fatal(err)
			}
			if c.native.NativeID != "" {
				if err := d.WriteNative(c.native); err != nil {
					t.Fatal(err)
				}
			}
			if err := d.WriteSupervisor(c.super); err != nil {
				t.Fatal(err)
			}
			if !c.client.IsZero() {
				r := clients.Receipt{Process: c.client, Session: "s", Run: "run", Provider: "it", StartedAt: time.Now()}
				if err := clients.WriteReceipt(string(d), r); err != nil {
					t.Fatal(err)
				}
			}
			r, err := Look(d, c.provider)
			if err != nil || r.Phase != c.phase || r.Reason != c.reason || r.Settled(c.provider) != c.settled {
				t.Errorf("%s, %q, settled %t, %v", r.Phase, r.Reason, r.Settled(c.provider), err)
			}
			if r.Resumable() != (c.phase == session.Resumable) {
				t.Errorf("resumable: %t", r.Resumable())
			}
		})
	}
}

// A wait for a conversation to be resumable is woken by what makes it so.
func TestAwaitResumableIsWoken(t *testing.T) {
	d := manifest.Dir(filepath.Join(t.TempDir(), "ab", "run"))
	if err := manifest.Publish(d, manifest.Manifest{Run: "run", Session: "s", Provider: "it"}); err != nil {
		t.Fatal(err)
	}
	p := provider.Provider{Name: "it", NativeID: provider.NativeChosen, History: provider.HistoryAnnounced, Start: []string{"it"}, Resume: []string{"it"}}
	ctx, cancel := context.WithTimeout(context.Background(), manifest.RescanWatched) // before a rescan would see it
	defer cancel()
	got := make(chan Readiness, 1)
	go func() {
		r, err := AwaitResumable(ctx, d, p)
		if err != nil {
			t.Error(err)
		}
		got <- r
	}()
	if err := clients.WriteReceipt(string(d), clients.Receipt{Process: clients.Self(), Session: "s", Run: "run", Provider: "it", StartedAt: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if err := d.WriteNative(manifest.Native{NativeID: "n", Recorded: true}); err != nil {
		t.Fatal(err)
	}
	if r := <-got; !r.Resumable() {
		t.Errorf("%+v", r)
	}
}
