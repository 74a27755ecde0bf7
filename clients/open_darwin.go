package clients

// OpenFiles is nil: Darwin tells this through libproc only, which needs cgo.
func OpenFiles(int) []string { return nil }
