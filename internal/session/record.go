package session

// Record is what berth tells of one session, in `show --json`, `list --json` and
// the answers of commands (docs/formats.md has every field). Fields that have no
// meaning for a session are null, never missing.
type Record struct {
	ID             string         `json:"id"`
	Kind           string         `json:"kind"`
	PrimaryScope   *string        `json:"primary_scope"`
	Attention      *string        `json:"attention"`
	TaskIDs        []string       `json:"task_ids"`
	Workspace      Workspace      `json:"workspace"`
	Interactive    bool           `json:"interactive"`
	Work           *Work          `json:"work"`
	WaveID         *string        `json:"wave_id"`
	WorkPath       *string        `json:"work_path"`
	Actions        []Action       `json:"actions"`
	Title          string         `json:"title"`
	TitleSource    string         `json:"title_source"`
	FlowMembership FlowMembership `json:"flow_membership"`
	Detail         string         `json:"detail"` // provider, and model if one was asked for
	Provider       string         `json:"provider"`
	Cwd            string         `json:"cwd"`
	State          State          `json:"state"`
	ReadySummary   *string        `json:"ready_summary"`
	OpenArgv       []string       `json:"open_argv"`
	TerminalIDs    []string       `json:"terminal_ids"`

	Run       string   `json:"run"`
	Phase     Phase    `json:"phase"`
	Resumable bool     `json:"resumable"`
	Reason    *string  `json:"reason"` // what is missing to be resumable
	NativeID  *string  `json:"native_id"`
	FormerIDs []string `json:"former_native_ids"` // what it was before, oldest first
	HeldBy    *string  `json:"held_by"`
	Turn      *Turn    `json:"turn"`

	Client     *Process `json:"client"` // the live client
	Hosts      []Host   `json:"hosts"`
	Tmux       *Tmux    `json:"tmux"`       // the tmux session of a live client
	Supervisor *Since   `json:"supervisor"` // the live supervisor
	LastEnd    *End     `json:"last_end"`   // of the newest client, once it ended
	CreatedAt  string   `json:"created_at"`
	ElapsedMS  *int64   `json:"elapsed_ms"` // of the command that answers, where it started something
}

// Workspace is where a session works.
type Workspace struct {
	HomeID      string  `json:"home_id"`
	Worktree    *string `json:"worktree"` // top of the work tree
	TaskID      *string `json:"task_id"`
	Unavailable *string `json:"unavailable"` // why it cannot be worked in
}

// Work is what a session works on.
type Work struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
}

// FlowMembership says which step of which flow a session is.
type FlowMembership struct {
	Kind string `json:"kind"` // "independent", "step" or "unknown"
}

// Action is something that can be done with a session, or why it cannot.
type Action struct {
	Kind        string  `json:"kind"`
	Label       string  `json:"label"`
	Help        string  `json:"help"`
	Unavailable *string `json:"unavailable_reason"`
}

// Turn is whose turn it is, as far as somebody said so.
type Turn struct {
	State  string `json:"state"` // "idle", "busy", "waiting" or "unknown"
	Source string `json:"source"`
	Since  string `json:"since"`
}

// Process is a live process.
type Process struct {
	PID    int    `json:"pid"`
	Start  uint64 `json:"start"`
	BootID string `json:"boot_id"`
}

// Host is a terminal joined to the session.
type Host struct {
	Kind     string  `json:"kind"` // "terminal" or "tmux"
	PID      int     `json:"pid"`
	TTY      *string `json:"tty"`
	Pane     *string `json:"pane"`
	Keyboard bool    `json:"keyboard"`
	Watchers int     `json:"watchers"`
	Since    string  `json:"since"`
}

// Tmux is where the session's screen is.
type Tmux struct {
	Socket  string `json:"socket"`
	Session string `json:"session"`
	Pane    string `json:"pane"`   // "" until its host has joined
	Attach  string `json:"attach"` // a line for a shell
}

// Since is a process of ours and since when it runs.
type Since struct {
	PID   int    `json:"pid"`
	Since string `json:"since"`
}

// End is how a client ended.
type End struct {
	Outcome   string  `json:"outcome"`
	Reason    string  `json:"reason"`
	ExitCode  *int    `json:"exit_code"`
	Signal    *string `json:"signal"`
	AskedBy   *string `json:"asked_by"`
	Survivors []int   `json:"survivors"`
	EndedAt   string  `json:"ended_at"`
}

// Situation is what the actions of a session depend on.
type Situation struct {
	State     State
	Held      string // who holds it, in words; "" nobody
	Orphaned  bool   // a live client whose supervisor is dead
	Unknown   string // why nothing can be told; "" if it can
	SessionID string
}

// Actions are what can be done with a session now.
func Actions(s Situation) []Action {
	open := Action{Kind: "open", Label: "Open here", Help: "Join the conversation in this terminal, starting its agent if none runs."}
	complete := Action{Kind: "complete", Label: "Complete", Help: "End the agent and close the session."}
	switch {
	case s.State == StateClosed:
		open.Unavailable = ptr("the session is completed")
		complete.Unavailable = ptr("already complete")
	case s.Unknown != "":
		open.Unavailable, complete.Unavailable = ptr(s.Unknown), ptr(s.Unknown)
	case s.Orphaned:
		open.Unavailable = ptr("its agent runs but its terminal is gone; berth restart " + s.SessionID + " ends it and resumes the conversation")
	case s.Held != "":
		open.Unavailable = ptr("held by " + s.Held)
	}
	return []Action{open, complete}
}

func ptr[T any](v T) *T { return &v }
