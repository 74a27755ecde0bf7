package manifest

import (
	"os"
	"testing"
)

// roles are what this test binary can be as another process.
var roles = map[string]func() int{"writer": writer}

func TestMain(m *testing.M) {
	if role := os.Getenv("MANIFEST_TEST_ROLE"); role != "" {
		os.Exit(roles[role]())
	}
	os.Exit(m.Run())
}
