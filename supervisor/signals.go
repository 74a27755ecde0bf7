package supervisor

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"berth/clients"
	"berth/internal/provider"
	"berth/internal/screen"
	"berth/launcher"
	"berth/manifest"
)

// glanceAfter is how soon after output the screen is read for what the agent asks
// before it is ready: a dialog is painted in one go.
const glanceAfter = 150 * time.Millisecond

// sign is a provider.Sign that can be matched.
type sign struct {
	provider.Sign
	match *regexp.Regexp
}

// announcement is what the sign says.
func (s sign) announcement() manifest.Announcement {
	return manifest.Announcement{Turn: s.Turn, WaitingFor: s.For, Ready: s.Ready, Source: s.On, At: rfc3339(time.Now())}
}

func compile(signs []provider.Sign) ([]sign, error) {
	var out []sign
	for _, p := range signs {
		re, err := regexp.Compile(p.Match)
		if err != nil {
			return nil, err
		}
		out = append(out, sign{p, re})
	}
	return out, nil
}

// observe takes what the agent shows of its state, after output.
func (s *loop) observe() {
	c := s.client
	if len(c.signs) == 0 {
		return
	}
	if title := c.scanner.Modes().Title; title != c.title {
		c.title = title
		s.shown(provider.OnTitle, title)
	}
	for _, status := range c.scanner.Status() {
		if status == c.status {
			continue
		}
		c.status = status
		s.identify() // it may be another conversation by now
		s.shown(provider.OnStatus, status)
	}
	if !c.ready && c.glance == nil {
		c.glance = s.after(glanceAfter, func() {
			c.glance = nil
			if s.client == c && !c.ready {
				s.glance()
			}
		})
	}
}

// glance reads the screen for what the agent asks before it is ready.
func (s *loop) glance() {
	if sign, ok := s.onScreen(func(sign) bool { return true }); ok {
		s.merge(sign.announcement())
		return
	}
	c := s.client
	if c.turn.State == manifest.TurnBlocked { // it was answered
		s.merge(manifest.Announcement{Turn: manifest.TurnBusy, Source: provider.OnScreen, At: rfc3339(time.Now())})
		s.shown(provider.OnTitle, c.title)
		s.shown(provider.OnStatus, c.status)
	}
}

// dialog is the sign of a dialog on the screen.
func (s *loop) dialog() (sign, bool) {
	return s.onScreen(func(sign sign) bool { return sign.Turn == manifest.TurnBlocked })
}

// onScreen is the first sign on the screen, of those that count.
func (s *loop) onScreen(counts func(sign) bool) (sign, bool) {
	c := s.client
	for _, line := range screen.Text(c.tail.Bytes(), c.size.Cols, c.size.Rows) {
		for _, sign := range c.signs {
			if sign.On == provider.OnScreen && counts(sign) && sign.match.MatchString(line) {
				return sign, true
			}
		}
	}
	return sign{}, false
}

// shown takes the sign in what the agent shows there. One that is idle before it has been
// ready, and is not by that, is not there yet.
func (s *loop) shown(on, text string) {
	for _, sign := range s.client.signs {
		if sign.On != on || !sign.match.MatchString(text) {
			continue
		}
		if s.client.ready || sign.Ready || sign.Turn != manifest.TurnIdle {
			s.merge(sign.announcement())
		}
		return
	}
}

// identify learns the native id from the files that the client holds open: at first from
// the one that there is, later from one that was not there before and has a conversation
// of the person's in it. A subagent's has none.
func (s *loop) identify() {
	c := s.client
	if c.held == nil {
		return
	}
	found := map[string]string{} // ids, and the histories of them
	for _, path := range clients.OpenFiles(c.process.Process.PID) {
		if m := c.held.FindStringSubmatch(path); len(m) > 1 && !s.native.Had(m[1]) {
			found[m[1]] = ""
		}
	}
	for id := range found {
		if s.native.NativeID == "" {
			continue
		}
		if found[id] = s.findHistory(id); found[id] == "" {
			delete(found, id)
		}
	}
	if len(found) != 1 {
		return // which of them it is cannot be told
	}
	for id, history := range found {
		s.warn(s.learn(manifest.Announcement{NativeID: id, Recorded: history != "", HistoryPath: history, Source: "lock", At: rfc3339(time.Now())}))
	}
}

// findHistory is where the adapter says that the history of a conversation is; "" if
// there is none.
func (s *loop) findHistory(nativeID string) string {
	v := s.spec.Values()
	v.NativeID = nativeID
	path, err := s.spec.Provider.HistoryPath(v, s.getenv)
	if err != nil || path == "" {
		return ""
	}
	return s.spec.Provider.FindHistory(path, nativeID)
}

// getenv is a variable of the client's.
func (s *loop) getenv(name string) string { return launcher.Getenv(s.spec.Client.Env, name) }

// watchRegistry reads what the client says of itself in its registry, whenever that
// changes, until the client has ended.
func (s *loop) watchRegistry(c *client) error {
	v := s.spec.Values()
	v.PID = strconv.Itoa(c.process.Process.PID)
	path, err := s.spec.Provider.RegistryPath(v, s.getenv)
	if err != nil || path == "" {
		return err
	}
	go func() {
		for {
			dir := nearestDir(filepath.Dir(path)) // its own, once that is there
			w := manifest.Watch(dir)
			for dir == nearestDir(filepath.Dir(path)) {
				select {
				case <-w.C:
					s.post(func() { s.readRegistry(c, path) })
				case <-c.over:
					w.Close()
					return
				case <-s.gone:
					w.Close()
					return
				}
			}
			w.Close()
			s.post(func() { s.readRegistry(c, path) })
		}
	}()
	return nil
}

// nearestDir is dir, or the nearest directory above it that is there.
func nearestDir(dir string) string {
	for {
		if st, err := os.Stat(dir); err == nil && st.IsDir() {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return dir
		}
		dir = up
	}
}

func (s *loop) readRegistry(c *client, path string) {
	if s.client != c || c.state != nil {
		return
	}
	e, err := provider.ReadRegistry(path, c.process.Process.PID, c.process.Process.Start)
	if err != nil || e.NativeID == "" { // it is being written, or is not there yet
		return
	}
	if e.Status == manifest.TurnIdle && c.turn.State == manifest.TurnIdle && c.idleSince != 0 && e.Changed != c.idleSince { // a whole turn went by
		s.merge(manifest.Announcement{NativeID: e.NativeID, Turn: manifest.TurnBusy, Source: "registry", At: rfc3339(time.Now())})
	}
	if c.idleSince = 0; e.Status == manifest.TurnIdle {
		c.idleSince = e.Changed
	}
	a := manifest.Announcement{NativeID: e.NativeID, WaitingFor: e.WaitingFor, Source: "registry", At: rfc3339(time.Now())}
	switch e.Status {
	case manifest.TurnIdle, manifest.TurnBusy, manifest.TurnWaiting:
		a.Turn, a.Ready = e.Status, e.Status == manifest.TurnIdle
	}
	s.merge(a)
}
