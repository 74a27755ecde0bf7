package launcher

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/clients"
	"berth/internal/protocol"
)

// printer is a command that prints what it is.
func printer(t *testing.T, script string, args ...string) Command {
	t.Helper()
	cwd, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return Command{
		Path: "/bin/sh", Argv: append([]string{"sh", "-c", script, "name"}, args...), Env: []string{"A=1", "ODD=\xff;\n#{x}"},
		Cwd: cwd, Umask: 0o027, Size: protocol.Size{Cols: 91, Rows: 33},
	}
}

// output reads a client's terminal to its end.
func output(c *Client) string {
	var out bytes.Buffer
	buf := make([]byte, 4096)
	for {
		n, err := c.PTY.Read(buf)
		out.Write(buf[:n])
		if err != nil {
			return strings.ReplaceAll(out.String(), "\r\n", "\n")
		}
	}
}

func TestAGateBecomesTheClient(t *testing.T) {
	cmd := printer(t, `echo pid=$$ cwd=$(pwd) umask=$(umask) size=$(stty size); printf '<%s>' "$A" "$ODD" "$@"; env | grep -c BERTH; tty`,
		"", "-", "it's", "a;", "#{pane_id}", "$HOME", "two\nlines", "\xff")
	c, err := StartGate(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer c.PTY.Close()
	if live := clients.Check(c.Process); live.Status != clients.Live {
		t.Fatalf("before it opens: %+v", live)
	}
	if err := c.Open(); err != nil {
		t.Fatal(err)
	}
	got := output(c)
	st := c.Wait()
	want := "<1><\xff;\n#{x}><><-><it's><a;><#{pane_id}><$HOME><two\nlines><\xff>0\n/dev/pts/"
	if !strings.Contains(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for _, w := range []string{"pid=" + strings.Split(c.Process.String(), "-")[0] + " ", "cwd=" + cmd.Cwd + " ", "umask=0027 ", "size=33 91\n"} {
		if !strings.Contains(got, w) {
			t.Errorf("%q lacks %q", got, w)
		}
	}
	if st.ExitCode() != 0 {
		t.Errorf("ended with %v", st)
	}
}

func TestAGateThatIsNotOpenedStartsNothing(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(c *Client) error
	}{
		{"abandoned", (*Client).Abandon},
		{"told half", func(c *Client) error {
			_, err := c.spec.WriteString("half a spec")
			return errors.Join(err, c.Abandon())
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := printer(t, `echo ran > file`)
			gate, err := StartGate(cmd)
			if err != nil {
				t.Fatal(err)
			}
			defer gate.PTY.Close()
			if err := c.end(gate); err != nil {
				t.Fatal(err)
			}
			if st := gate.Wait(); st.ExitCode() != gateStatus {
				t.Errorf("ended with %v", st)
			}
			if _, err := os.Lstat(filepath.Join(cmd.Cwd, "file")); err == nil {
				t.Error("it ran")
			}
		})
	}
}

func TestAGateThatCannotOpenSaysWhy(t *testing.T) {
	for _, c := range []struct {
		name, says string
		spoil      func(t *testing.T, c *Command)
	}{
		{"no such program", "cannot run /no/such/program: no such file", func(_ *testing.T, c *Command) { c.Path = "/no/such/program" }},
		{"not a program", "permission denied", func(t *testing.T, c *Command) {
			c.Path = filepath.Join(c.Cwd, "plain")
			must(t, os.WriteFile(c.Path, nil, 0o600))
		}},
		{"directory replaced", "was replaced while starting", func(t *testing.T, c *Command) {
			must(t, os.Rename(c.Cwd, c.Cwd+".old"))
			must(t, os.Mkdir(c.Cwd, 0o700))
		}},
		{"directory gone", "no such file", func(t *testing.T, c *Command) { must(t, os.Remove(c.Cwd)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := printer(t, "exit 0")
			gate, err := StartGate(cmd)
			must(t, err)
			defer gate.PTY.Close()
			c.spoil(t, &gate.command)
			if err := gate.Open(); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %q", err, c.says)
			}
			if st := gate.Wait(); st.ExitCode() != gateStatus {
				t.Errorf("ended with %v", st)
			}
		})
	}
	gone := printer(t, "exit 0")
	gone.Cwd += "/gone"
	if _, err := StartGate(gone); err == nil || !strings.Contains(err.Error(), gone.Cwd) {
		t.Errorf("without a directory: %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
