package clients

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"berth/internal/atomicfile"
)

// Client is what the run directory says of one client.
type Client struct {
	Receipt Receipt // when unreadable, only Process.PID and .Start are set, from the file's name
	End     *End    // nil when none was recorded, or it is unreadable
	Err     error   // why Receipt or End could not be read, else nil
}

// Read returns the clients of the run directory runDir, oldest first; none if none
// was started. One unreadable file sets its client's Err and hides no other. The
// error says that the directory itself could not be read.
func Read(runDir string) ([]Client, error) {
	dir := filepath.Join(runDir, dirName)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = os.Stat(runDir)
		entries = nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the clients of a run: %w", err)
	}
	found := map[string]*Client{}
	for _, e := range entries {
		m := fileName.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		c := found[m[1]]
		if c == nil {
			c = readClient(dir, m[1])
			found[m[1]] = c
		}
	}
	out := make([]Client, 0, len(found))
	for _, c := range found {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b Client) int {
		return cmp.Or(
			a.Receipt.StartedAt.Compare(b.Receipt.StartedAt),
			cmp.Compare(a.Receipt.Process.Start, b.Receipt.Process.Start),
			cmp.Compare(a.Receipt.Process.PID, b.Receipt.Process.PID),
		)
	})
	return out, nil
}

var fileName = regexp.MustCompile(`^(\d+-\d+)(?:\.end)?\.json$`)

// readClient reads the receipt and the end of the client called name, "pid-start".
func readClient(dir, name string) *Client {
	c := &Client{}
	path := filepath.Join(dir, name+".json")
	err := atomicfile.ReadJSON(path, schemaVersion, &c.Receipt)
	if err == nil && c.Receipt.Process.String() != name {
		err = fmt.Errorf("cannot use %s: it tells of process %s", path, c.Receipt.Process)
	}
	if err != nil {
		c.Receipt = Receipt{Process: parseName(name)}
	}

	var end End
	path = filepath.Join(dir, name+".end.json")
	enderr := atomicfile.ReadJSON(path, schemaVersion, &end)
	switch {
	case errors.Is(enderr, fs.ErrNotExist):
		enderr = nil
	case enderr == nil && err == nil && end.Process != c.Receipt.Process:
		enderr = fmt.Errorf("cannot use %s: it tells of another process than the receipt", path)
	case enderr == nil:
		c.End = &end
	}
	c.Err = errors.Join(err, enderr)
	return c
}

// parseName is the inverse of Identity.String, as far as that goes.
func parseName(name string) (id Identity) {
	fmt.Sscanf(name, "%d-%d", &id.PID, &id.Start) //nolint:errcheck // fileName has matched
	return id
}

// Liveness says whether the client is alive. A process that provably runs is live
// whatever was recorded of its end; where that cannot be told, a recorded end is
// believed, for it was written by who saw it. Without a readable receipt or end
// it is unknown.
func (c Client) Liveness() Liveness {
	id := c.Receipt.Process
	if c.Err != nil && id.Boot == "" {
		if c.End == nil {
			return Liveness{Unknown, "its receipt cannot be read: " + c.Err.Error()}
		}
		id = c.End.Process
	}
	l := Check(id)
	switch {
	case c.End == nil:
		return l
	case l.Status == Live:
		return Liveness{Live, "process runs, although its end was recorded"}
	}
	return Liveness{Dead, "ended: " + cmp.Or(c.End.Reason, string(c.End.Outcome), "recorded")}
}

// Current picks from the clients of one run, oldest first, the one that matters:
// the newest live one, else the newest that is unknown, else the newest. With none
// at all the liveness is Dead: nothing was started.
func Current(cs []Client) (Client, Liveness) {
	best, life := Client{}, Liveness{Dead, "no client was started"}
	rank := map[Status]int{Dead: 0, Unknown: 1, Live: 2}
	for _, c := range cs {
		if l := c.Liveness(); rank[l.Status] >= rank[life.Status] {
			best, life = c, l
		}
	}
	return best, life
}
