package clients

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// TreeSpec says whose tree is meant and where it ends.
type TreeSpec struct {
	Run   string     // the run's id
	Roots []Identity // the run's clients; dead ones do no harm

	// Kin are processes that were of the tree when somebody looked. They still are,
	// though nothing may show it any more, unless they say otherwise themselves.
	Kin []Identity

	// Lost are clients of the run whose end nobody saw. While a process is left in
	// the POSIX session that such a client led, the kernel gives its number to no
	// other, so that what is in it, without a leader, is of the run.
	Lost []Identity

	// Adopter is the run's supervisor when it is a subreaper, else zero. Its
	// children outside its own session are orphans of the run: what the adopter
	// starts for itself must stay in its session, carry a border's role, or be a
	// root.
	Adopter Identity

	// Spare holds short names of processes (as in ps -o comm) that are left
	// alone with everything below them.
	Spare []string

	// IsBorder confirms that a process whose environment says it is a supervisor
	// or a tmux server of some home really is one. It is asked about few
	// processes. Nil confirms none: then such a process and all below it are
	// unverified.
	IsBorder func(Process) bool
}

// Process is one process seen by Scan.
type Process struct {
	Identity
	Marks
	PPID int
	Name string // the kernel's short name: for people and for TreeSpec.Spare
	Why  string // why it is left alone, or is left; "" for one that is simply of the run
}

// Tree is what Scan saw of a run. Each list is sorted, oldest first.
type Tree struct {
	Processes  []Process // to be ended
	Spared     []Process // of the run, left alone by rule; Why says which
	Unverified []Process // perhaps of the run; left alone since nobody could tell
}

// Scan looks for the processes of a run, in one pass over the process table:
// those whose environment says so, the roots and what descends from them, and
// orphans the adopter took in; without what carries another run's mark, borders
// and what is below them. Never part of it are init, this process, its process
// group, its ancestors and the adopter. An error means that nothing can be said.
func Scan(spec TreeSpec) (Tree, error) { return scan(spec, nobody) }

func nobody(Identity) bool { return false }

// scan is Scan, with what kin names taken for descendants of the run.
func scan(spec TreeSpec, kin func(Identity) bool) (Tree, error) {
	c, err := newCensus(spec, kin)
	if err != nil {
		return Tree{}, err
	}
	var t Tree
	mine := c.untouchable()
	for _, p := range c.all {
		v := c.judge(p)
		switch out := c.describe(p); {
		case v == outside, v == fenced, v != doubtful && p.marks.border() && !c.roots[out.Identity], c.foreign(p):
		case mine[p.pid] || p.pgid == unix.Getpgrp():
			out.Why = "it is this process, above it, or of its process group"
			t.Spared = append(t.Spared, out)
		case v == inside:
			t.Processes = append(t.Processes, out)
		case v == spared:
			out.Why = "stop.spare names it or a process above it"
			t.Spared = append(t.Spared, out)
		case p.hidden != nil:
			out.Why = fmt.Sprintf("its environment cannot be read: %v", p.hidden)
			t.Unverified = append(t.Unverified, out)
		case p.marks.border():
			out.Why = "it says it is a " + p.marks.Role + " of berth, and nothing confirms it"
			t.Unverified = append(t.Unverified, out)
		default:
			out.Why = "a process above it could not be verified"
			t.Unverified = append(t.Unverified, out)
		}
	}
	for _, l := range [][]Process{t.Processes, t.Spared, t.Unverified} {
		slices.SortFunc(l, func(a, b Process) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.PID, b.PID))
		})
	}
	return t, nil
}

// Inside reports whether the process id names belongs to the run's tree, spared
// and unverified ones included: ending the tree could end it. The error wraps
// ErrNoProcess when there is no such process.
func Inside(spec TreeSpec, id Identity) (bool, error) {
	c, err := newCensus(spec, nobody)
	if err != nil {
		return false, err
	}
	p := c.all[id.PID]
	if p == nil || c.describe(p).Identity != id {
		return false, fmt.Errorf("cannot place process %d: %w", id.PID, ErrNoProcess)
	}
	v := c.judge(p)
	return v != outside && v != fenced, nil
}

// proc is one living process of the census.
type proc struct {
	procStat
	pid    int
	marks  Marks
	hidden error // why its environment could not be read, else nil
}

// census is one pass over the process table, seen for one run.
type census struct {
	spec      TreeSpec
	all       map[int]*proc
	roots     map[Identity]bool
	kin       func(Identity) bool
	verdicts  map[int]verdict
	confirmed map[int]bool // what IsBorder said
}

func newCensus(spec TreeSpec, kin func(Identity) bool) (*census, error) {
	if spec.Run == "" {
		return nil, errors.New("cannot look for the processes of a run without its id")
	}
	all, err := list()
	if err != nil {
		return nil, fmt.Errorf("cannot list processes: %w", err)
	}
	c := &census{spec: spec, all: all, roots: map[Identity]bool{}, kin: kin, verdicts: map[int]verdict{}, confirmed: map[int]bool{}}
	for _, id := range spec.Roots {
		c.roots[id] = true
	}
	if len(spec.Kin) > 0 {
		c.kin = func(id Identity) bool { return kin(id) || slices.Contains(spec.Kin, id) }
	}
	return c, nil
}

func (c *census) describe(p *proc) Process {
	id := Machine()
	id.PID, id.Start = p.pid, p.start
	return Process{Identity: id, Marks: p.marks, PPID: p.ppid, Name: p.name}
}

// parent is p's parent, or nil. A "parent" younger than its child is a stranger
// who got the number while the table was read.
func (c *census) parent(p *proc) *proc {
	up := c.all[p.ppid]
	if up == nil || up.start > p.start {
		return nil
	}
	return up
}

// untouchable is init, this process, all above it, and the adopter.
func (c *census) untouchable() map[int]bool {
	mine := map[int]bool{0: true, 1: true, os.Getpid(): true}
	for p := c.all[os.Getpid()]; p != nil && !mine[p.ppid]; p = c.all[p.ppid] {
		mine[p.ppid] = true
	}
	mine[c.spec.Adopter.PID] = true
	return mine
}
