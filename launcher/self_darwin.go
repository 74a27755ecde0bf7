package launcher

import "os"

// selfExe is this program's file; Darwin has no name for the running image itself.
func selfExe() (string, error) { return os.Executable() }
