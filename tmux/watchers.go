package tmux

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Fields of a client, and whether a pane can be seen in its window.
const (
	clientFields = "#{window_id}\t#{client_readonly}\t#{client_flags}"
	paneShown    = "#{?#{&&:#{window_zoomed_flag},#{!=:#{pane_active},1}},hidden,shown}"
)

// looksAt is the window that an attached client looks at and may type in; "" for a
// client that only reads, or is suspended. f are clientFields.
func looksAt(f []string) string {
	if f[1] == "1" || strings.Contains(f[2], "suspended") {
		return ""
	}
	return f[0]
}

// WatchersByPane is Watchers of every pane of berth's in this server, by one call. No
// server, or none of our panes, is an empty map.
func (s *Server) WatchersByPane(ctx context.Context) (map[string]int, error) {
	out, err := s.query(ctx,
		"list-panes", "-a", "-F", "#{?"+ours+",pane\t#{pane_id}\t#{window_id}\t"+paneShown+",}", ";",
		"list-clients", "-F", "client\t"+clientFields)
	if errors.Is(err, ErrNoServer) || errors.Is(err, ErrNoSession) {
		return map[string]int{}, nil
	}
	if err != nil {
		return nil, err
	}
	return parseWatchersByPane(lines(out))
}

func parseWatchersByPane(list []string) (map[string]int, error) {
	windows := map[string]int{} // clients by the window they look at
	for _, l := range list {
		if f := strings.Split(l, "\t"); len(f) == 4 && f[0] == "client" {
			windows[looksAt(f[1:])]++
		} else if len(f) != 4 || f[0] != "pane" || !hasID(f[1], '%') || !hasID(f[2], '@') {
			return nil, fmt.Errorf("cannot read tmux pane or client %q", l)
		}
	}
	panes := map[string]int{}
	for _, l := range list {
		if f := strings.Split(l, "\t"); f[0] == "pane" {
			panes[f[1]] = 0
			if f[3] == "shown" {
				panes[f[1]] = windows[f[2]]
			}
		}
	}
	return panes, nil
}
