//go:build berthtest

// Package point, in a test build: see point.go for what it is.
//
// Armed by environment, so that a script can arm one process of a chain:
//
//	BERTHTEST_POINT=supervisor.after-claim=kill   SIGKILL this process there
//	BERTHTEST_POINT=launcher.after-row=stop       SIGSTOP it there
//	BERTHTEST_POINT=NAME=wait:/path               wait until /path exists, having made /path.here
//	BERTHTEST_FAIL=op=ENOSPC                      fail the file operation so labelled
//	BERTHTEST_SWITCH=no-inotify,no-doorbell       switches, comma separated
//	BERTHTEST_VALUE=boot-id=other                 a fact replaced
//
// Several, separated by spaces, may be in BERTHTEST_POINT, _FAIL and _VALUE.
package point

import (
	"os"
	"strings"
	"syscall"
	"time"
)

const prefix = "BERTHTEST_"

// Here ends, stops or delays the process if name is armed.
func Here(name string) {
	act, ok := lookup("POINT", name)
	if !ok {
		return
	}
	switch {
	case act == "kill":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // the signal ends every thread; never go past the point
	case act == "stop":
		syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	case strings.HasPrefix(act, "wait:"):
		file := strings.TrimPrefix(act, "wait:")
		os.WriteFile(file+".here", nil, 0o600)
		for {
			if _, err := os.Stat(file); err == nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	default:
		panic("point: unknown action " + act)
	}
}

// Fail is the error to inject into the file operation labelled op, or nil.
func Fail(op string) error {
	act, ok := lookup("FAIL", op)
	if !ok {
		return nil
	}
	switch act {
	case "ENOSPC":
		return &os.PathError{Op: op, Path: "(injected)", Err: syscall.ENOSPC}
	case "EACCES":
		return &os.PathError{Op: op, Path: "(injected)", Err: syscall.EACCES}
	default:
		return &os.PathError{Op: op, Path: "(injected)", Err: syscall.EIO}
	}
}

// Switch reports whether the named switch is on.
func Switch(name string) bool {
	for s := range strings.SplitSeq(os.Getenv(prefix+"SWITCH"), ",") {
		if s == name {
			return true
		}
	}
	return false
}

// Value is the replacement for the named fact, or "".
func Value(name string) string { v, _ := lookup("VALUE", name); return v }

// Environ returns the arming variables, for processes started with a clean environment.
func Environ() []string {
	var out []string
	for _, kv := range os.Environ() {
		if strings.HasPrefix(kv, prefix) {
			out = append(out, kv)
		}
	}
	return out
}

func lookup(kind, name string) (string, bool) {
	for f := range strings.FieldsSeq(os.Getenv(prefix + kind)) {
		if k, v, _ := strings.Cut(f, "="); k == name {
			return v, true
		}
	}
	return "", false
}
