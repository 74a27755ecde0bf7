package launcher

import (
	"bytes"
	"fmt"
	"os"
	"testing"
)

// TestMain makes this binary what a launcher starts of itself: a gate, a supervisor.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[0] == "berth" {
		switch os.Args[1] {
		case "gate":
			os.Exit(Gate())
		case "supervise":
			os.Exit(superviseForTest())
		}
	}
	os.Exit(m.Run())
}

// superviseForTest is a supervisor that writes what it was told into the run
// directory, and says how it went.
func superviseForTest() int {
	s, birth, err := ReadSpec()
	if err != nil {
		birth.Over(err)
		return 1
	}
	var told bytes.Buffer
	err = write(&told, s)
	if err == nil {
		err = os.WriteFile(s.Dir().Path("told"), told.Bytes(), 0o600)
	}
	if err == nil {
		err = os.WriteFile(s.Dir().Path("environ"), fmt.Appendf(nil, "%q", os.Environ()), 0o600)
	}
	switch {
	case err != nil:
		birth.Over(err)
		return 1
	case s.Model == "dies":
		return 1
	case s.Model == "fails":
		birth.Over(fmt.Errorf("it did not work"))
		return 1
	}
	birth.Over(nil)
	return 0
}
