package control

import (
	"context"
	"runtime/debug"
	"time"

	"berth/clients"
	"berth/internal/home"
	"berth/internal/registry"
	"berth/internal/session"
	"berth/launcher"
	"berth/manifest"
	"berth/tmux"
)

// Show is everything known about one session.
func (c *Control) Show(ctx context.Context, ref string) (session.Record, error) {
	t, err := c.find(ctx, ref)
	if err != nil {
		return session.Record{}, err
	}
	return c.record(t), nil
}

// List yields the sessions that match f, the latest first, from the registry and
// from receipts: it asks neither tmux nor any transcript. One whose evidence cannot
// be read has that as the reason its actions are unavailable.
//
// With attention it is only those that wait for a person; which of them are left out or
// come after is counted among these.
func (c *Control) List(ctx context.Context, f registry.Filter, attention bool) ([]session.Record, string, error) {
	if attention {
		return c.listAttention(ctx, f)
	}
	page, err := c.DB.List(ctx, f)
	if err != nil {
		return nil, "", err
	}
	// What a list makes is kept to its end: there is little for a collector to find.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	out := make([]session.Record, len(page.Entries))
	each(len(out), func(i int) { out[i] = c.record(c.target(page.Entries[i])) })
	return out, page.Next, nil
}

func (c *Control) listAttention(ctx context.Context, f registry.Filter) (out []session.Record, next string, err error) {
	offset, limit := f.Offset, f.Limit
	if f.After != "" {
		offset = 0
	}
	f.Offset, f.Limit, out = 0, 0, []session.Record{}
	for s, err := range c.DB.Each(ctx, f) {
		if err != nil {
			return nil, "", err
		}
		r := c.record(c.target(s))
		switch {
		case r.Attention == nil:
		case offset > 0:
			offset--
		case limit > 0 && len(out) == limit:
			return out, out[limit-1].ID, nil
		default:
			out = append(out, r)
		}
	}
	return out, "", nil
}

// record is what is known of t now.
func (c *Control) record(t target) session.Record {
	r := session.Record{
		ID: t.ID, Kind: t.Kind, TaskIDs: []string{}, Interactive: true, Title: t.Title, TitleSource: t.TitleSource,
		Workspace:      session.Workspace{HomeID: c.Home.ID},
		FlowMembership: session.FlowMembership{Kind: "independent"},
		Detail:         t.Provider, Provider: t.Provider, Cwd: t.Cwd, ReadySummary: t.ReadySummary,
		FormerIDs: []string{}, TerminalIDs: []string{}, Run: t.CurrentRun, Hosts: []session.Host{},
		CreatedAt: t.CreatedAt.UTC().Format(time.RFC3339Nano),
	}
	if t.Model != "" {
		r.Detail += ":" + t.Model
	}
	if bin, err := launcher.Bin(); err == nil {
		r.OpenArgv = []string{"/usr/bin/env", launcher.EnvBin + "=" + bin, home.EnvVar + "=" + c.Home.Dir, bin, "open", t.ID}
	}
	situation := session.Situation{SessionID: t.ID}
	e := session.Evidence{Kind: t.Kind, Closed: t.ClosedAt != nil, Ready: t.ReadySummary != nil}
	var ready launcher.Readiness
	err := c.Home.CheckRun(t.CurrentRun)
	if err == nil {
		ready, err = launcher.Look(t.dir, t.agent)
	}
	if err == nil {
		c.evidence(&r, t, ready, &e, &situation)
	} else {
		situation.Unknown = err.Error()
		r.Phase, r.Reason = session.PhaseUnknown, &situation.Unknown
		if !c.everSupervised(t) { // recorded, and never launched
			situation.Unknown = ""
			r.Phase, r.Reason = session.Starting, text("its launch was not finished; berth open "+t.ID)
		}
	}
	r.State = session.StateOf(e)
	if err == nil && t.ClosedAt == nil && attention(ready.Super.Turn, e.Live) {
		r.Attention = text(session.AttentionReply)
	}
	situation.State = r.State
	r.Actions = session.Actions(situation)
	return r
}

// evidence fills in what the run directory says.
func (c *Control) evidence(r *session.Record, t target, l launcher.Readiness, e *session.Evidence, s *session.Situation) {
	r.Phase, r.Resumable = l.Phase, l.Resumable()
	r.Reason, r.NativeID = text(l.Reason), text(l.Native.NativeID)
	for _, former := range l.Native.Superseded {
		r.FormerIDs = append(r.FormerIDs, former.NativeID)
	}
	worktree, err := t.dir.Worktree()
	if err != nil { // nobody knows how to resume it
		s.Unknown = err.Error()
		r.Phase, r.Resumable, r.Reason = session.PhaseUnknown, false, &s.Unknown
	}
	r.Workspace.Worktree = text(worktree)
	if l.Life.Status == clients.Unknown && l.Phase != session.Starting {
		s.Unknown = l.Life.Reason
	}
	if end := l.Client.End; end != nil && l.Life.Status == clients.Dead {
		r.LastEnd = &session.End{
			Outcome: string(end.Outcome), Reason: end.Reason, ExitCode: end.ExitCode, Signal: text(end.Signal),
			AskedBy: text(end.AskedBy), Survivors: end.Survivors, EndedAt: end.EndedAt.UTC().Format(time.RFC3339Nano),
		}
	}
	e.Interrupted = l.Phase == session.Ended && interrupted(t, l.Client.End)
	if l.Life.Status != clients.Live {
		return
	}
	e.Live = true
	id := l.Client.Receipt.Process
	r.Client = &session.Process{PID: id.PID, Start: id.Start, BootID: id.Boot}
	if clients.Check(l.Super.Process).Status != clients.Live {
		s.Orphaned = true
		return
	}
	r.Supervisor = &session.Since{PID: l.Super.Process.PID, Since: l.Super.Since}
	r.Turn = &session.Turn{State: "unknown"}
	if turn := l.Super.Turn; turn.State != "" {
		r.Turn = &session.Turn{State: turn.State, Source: turn.Source, Since: turn.Since}
	}
	r.Tmux = &session.Tmux{Socket: c.Home.TmuxSocket(), Session: tmux.Name(t.ID), Attach: c.Tmux.AttachLine(tmux.Name(t.ID), false)}
	for _, h := range l.Super.Hosts {
		r.Hosts = append(r.Hosts, session.Host{
			Kind: h.Kind, PID: h.Process.PID, TTY: text(h.TTY), Pane: text(h.Pane),
			Keyboard: h.Keyboard, Watchers: h.Watchers, Since: h.Since,
		})
		if h.Kind == manifest.HostTmux && r.Tmux.Pane == "" {
			r.Tmux.Pane = h.Pane
		}
		if h.TerminalID != "" {
			r.TerminalIDs = append(r.TerminalIDs, h.TerminalID)
		}
	}
	if h, ok := l.Super.Holder(); ok {
		r.HeldBy, s.Held = text(h.Kind), h.String()
	}
}

// interrupted reports whether a client ended by something nobody asked for, or for
// another one that never came, and nobody has stopped the session since.
func interrupted(t target, end *clients.End) bool {
	if end != nil && end.Outcome != clients.Interrupted && end.Reason != manifest.ReasonRestarted && end.Reason != manifest.ReasonMoved {
		return false
	}
	w, err := t.dir.Wanted()
	return err == nil && w.Want == manifest.WantRun
}

// text is s, or nil when there is none.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
