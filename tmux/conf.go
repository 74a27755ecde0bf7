package tmux

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"berth/internal/atomicfile"
)

// historyLines is the scroll-back of a pane. Agents that draw on the
// alternate screen leave none.
const historyLines = 5000

// ConfOptions are the parts of berth's tmux configuration that are not fixed.
type ConfOptions struct {
	WatchCommand []string // run, without waiting, when a client comes, goes or looks elsewhere; nil: nothing is
}

// The file has two parts. What a person may change in their own file is set once;
// what launches lean on is set again after that file was read: see readUserConf.
// %if is decided when the file is read. No `window-size manual`: 3.3a dies of it at
// the next new-session.
const (
	confHead = `# berth's tmux configuration. Written by berth; your own goes to tmux.conf in
# $XDG_CONFIG_HOME/berth, and is read after this.

%if #{==:#{@berth_conf},}
set -g @berth_conf 1
set -g status off
set -g mouse on
set -g default-terminal tmux-256color
set -s escape-time 10
set -s focus-events on
set -q -s extended-keys on
`
	confFixed = `%endif

# These stay so whatever your own file says.
set -s exit-empty off
set -q -s exit-unattached off
set -g destroy-unattached off
set -g remain-on-exit failed
set -q -g remain-on-exit-format ''
set -g window-size latest
set -g update-environment ''
set-hook -gu session-created
set-hook -gu after-new-session
`
)

// watchHooks are the events that change who looks at a pane. Index 91 leaves the
// person's own hooks of that name in place.
var watchHooks = []string{"client-attached", "client-detached", "client-session-changed", "session-window-changed"}

func conf(o ConfOptions) string {
	var b strings.Builder
	b.WriteString(confHead)
	b.WriteString("set -g history-limit " + strconv.Itoa(historyLines) + "\n")
	b.WriteString(confFixed)
	if len(o.WatchCommand) > 0 {
		// Three readers: this file, run-shell's formats, sh. Nothing of tmux's goes
		// into the line: session names are anybody's, and sh would run them.
		run := "run-shell -b " + confWord(literal(quoteAll(o.WatchCommand, quote)))
		for _, h := range watchHooks {
			b.WriteString("set-hook -g " + confWord(h+"[91]") + " " + confWord(run) + "\n")
		}
	}
	return b.String()
}

// WriteConf writes berth's tmux configuration to path, if it is not there already
// in the same words. A running server does not read it again.
func WriteConf(path string, o ConfOptions) error {
	text := conf(o)
	old, err := atomicfile.Read(path)
	switch {
	case err == nil && string(old) == text:
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return atomicfile.Write("tmux-conf", path, []byte(text))
}
