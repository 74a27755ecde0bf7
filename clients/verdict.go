package clients

import (
	"slices"
	"strings"
)

// verdict is what one process is to a run. It is worked out from the process and
// its parent's verdict.
type verdict int

const (
	outside    verdict = iota // nothing to do with the run
	inside                    // of the run
	spared                    // of the run, named in Spare or below one that is
	fenced                    // a border, or below one
	doubtful                  // a border nobody confirms, or below one
	unreadable                // below the run, its own marks unreadable; or unmarked below such a one
)

func (c *census) judge(p *proc) verdict {
	v, ok := c.verdicts[p.pid]
	if !ok {
		c.verdicts[p.pid] = outside // ends a circle, which only numbers reused while we read can make
		v = c.decide(p)
		c.verdicts[p.pid] = v
	}
	return v
}

func (c *census) decide(p *proc) verdict {
	id := c.describe(p).Identity
	if c.roots[id] {
		return inside
	}
	marked := p.marks.Run == c.spec.Run
	above := outside
	parent := c.parent(p)
	if parent != nil {
		above = c.judge(parent)
	}
	heir := c.kin(id) || c.leftBehind(p) || parent != nil && c.adopter(parent) && p.sid != parent.sid
	if above == fenced && parent.marks.border() {
		above = c.belowBorder(parent, marked)
	}
	switch {
	case heir:
	case above == spared, above == fenced, above == doubtful:
		return above // nothing below is touched, whatever it says of itself
	case !marked && above == outside:
		if p.marks.border() {
			return fenced
		}
		return outside
	}

	// It is of the run by mark, descent or adoption, unless it says otherwise.
	switch {
	case p.marks.border() && c.confirms(p):
		return fenced
	case p.marks.border():
		return doubtful
	case c.foreign(p):
		return outside
	case c.spares(p.name):
		return spared
	case p.hidden != nil, !marked && above == unreadable && !heir:
		return unreadable
	}
	return inside
}

// belowBorder is what a border passes on to a child. A supervisor is a subreaper:
// its own child with the run's mark is an orphan of a run whose supervisor died
// below it, and so is judged as if nothing were above it.
func (c *census) belowBorder(border *proc, marked bool) verdict {
	switch {
	case !marked || c.adopter(border):
		return fenced
	case !c.confirms(border):
		return doubtful
	case border.marks.Role == RoleSupervisor:
		return outside
	}
	return fenced
}

// adopter reports whether p is the run's own supervisor.
func (c *census) adopter(p *proc) bool {
	return p.pid == c.spec.Adopter.PID && c.describe(p).Identity == c.spec.Adopter
}

// leftBehind reports whether p is in the session of a lost client.
func (c *census) leftBehind(p *proc) bool {
	return slices.ContainsFunc(c.spec.Lost, func(id Identity) bool {
		ours := Machine()
		ours.PID, ours.Start = id.PID, id.Start
		return id == ours && p.sid == id.PID && p.start >= id.Start && c.all[id.PID] == nil
	})
}

// foreign reports whether p carries another run's mark.
func (c *census) foreign(p *proc) bool {
	return p.marks.Run != "" && p.marks.Run != c.spec.Run && !c.roots[c.describe(p).Identity]
}

func (c *census) confirms(p *proc) bool {
	yes, asked := c.confirmed[p.pid]
	if !asked {
		yes = c.spec.IsBorder != nil && c.spec.IsBorder(c.describe(p))
		c.confirmed[p.pid] = yes
	}
	return yes
}

// commLen is how much of a program's name the kernel keeps, in bytes.
const commLen = 15

// spares reports whether name is in Spare. tmux calls itself "tmux: server".
func (c *census) spares(name string) bool {
	return slices.ContainsFunc(c.spec.Spare, func(s string) bool {
		return s != "" && (name == s[:min(len(s), commLen)] || strings.HasPrefix(name, s+":"))
	})
}
