package control

import (
	"context"

	"berth/internal/registry"
	"berth/internal/session"
)

// Interrupted are the ids of the open sessions whose client was ended by something
// nobody asked for and that nobody has stopped since, the latest first.
func (c *Control) Interrupted(ctx context.Context) ([]string, error) {
	page, err := c.DB.List(ctx, registry.Filter{})
	if err != nil {
		return nil, err
	}
	found := make([]bool, len(page.Entries))
	each(len(found), func(i int) {
		found[i] = c.wasInterrupted(c.target(page.Entries[i]))
	})
	var ids []string
	for i, yes := range found {
		if yes {
			ids = append(ids, page.Entries[i].ID)
		}
	}
	return ids, nil
}

func (c *Control) wasInterrupted(t target) bool { return c.record(t).State == session.StateInterrupted }
