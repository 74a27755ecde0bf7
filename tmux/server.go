package tmux

import (
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	// DefaultTimeout bounds one call. A loaded machine with 500 sessions answers in
	// 50 ms at p99; what takes a hundred times that is a frozen server.
	DefaultTimeout = 5 * time.Second

	// userConfTimeout bounds the reading of the person's own file, which may run
	// anything (`run-shell 'sleep 60'`). The launch that started the server waits for it.
	userConfTimeout = 2 * time.Second

	// maxOutputBytes of what one client prints are read: a history of some 100,000
	// lines.
	maxOutputBytes = 64 << 20
)

// Options say which server is meant and how its clients are run.
type Options struct {
	Bin      string        // the tmux binary; "" looks up "tmux" in PATH at the first call
	Socket   string        // absolute path of the server's socket (-S); its directory must exist
	Conf     string        // absolute path of the file WriteConf made; needed to start a server
	UserConf string        // absolute path of the person's own tmux.conf, read once per server after Conf; "" or missing: none
	Record   string        // absolute path of tmux.json, the server's identity
	Env      []string      // the whole environment of every client, and so of a server started by one; TMUX and TMUX_PANE are dropped
	Timeout  time.Duration // bound of one call; 0 means DefaultTimeout
}

// Server is one tmux server, running or not. It holds no connection and no state
// but the path of the binary: all methods may be used concurrently, and by several
// processes.
type Server struct {
	Options
	bin func() (string, error)
}

// New returns the server that o names. It starts nothing and reads nothing.
func New(o Options) *Server {
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	env := make([]string, 0, len(o.Env)) // never nil: nil would inherit ours
	for _, kv := range o.Env {
		if k, _, _ := strings.Cut(kv, "="); k != "TMUX" && k != "TMUX_PANE" {
			env = append(env, kv)
		}
	}
	o.Env = env
	return &Server{Options: o, bin: sync.OnceValues(func() (string, error) {
		if o.Bin != "" {
			return o.Bin, nil
		}
		return exec.LookPath("tmux")
	})}
}
