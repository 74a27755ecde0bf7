package clients

// BecomeSubreaper returns ErrNoSubreaper.
func BecomeSubreaper() error { return ErrNoSubreaper }

// ReapAdopted has nothing to reap: nothing is adopted.
func ReapAdopted(func(pid int) bool) (int, error) { return 0, nil }

// ChildStopped always says no: Darwin's wait for a stop may take the child's end.
func ChildStopped(int) bool { return false }
