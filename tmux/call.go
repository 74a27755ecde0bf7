package tmux

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// call runs one client: `tmux -u -S socket <flags> <command…>`. It is bounded by
// ctx and the server's Timeout. env is added to the server's own.
//
// -u: in a C locale a client prints every non-ASCII character as "_".
func (s *Server) call(ctx context.Context, env, flags []string, command ...string) ([]byte, error) {
	bin, err := s.bin()
	if err != nil {
		return nil, notInstalled(err)
	}
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	args := append([]string{"-u", "-S", s.Socket}, flags...)
	cmd := exec.CommandContext(ctx, bin, append(args, command...)...)
	cmd.Env = append(s.Env[:len(s.Env):len(s.Env)], env...)
	stdout, stderr, err := run(cmd)

	verb := command[0]
	var exit *exec.ExitError
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, s.interrupted(verb, ctx.Err())
	case errors.As(err, &exit):
		return nil, s.failed(&ExitError{Verb: verb, Stderr: stderr, Stdout: stdout, Status: exit.ExitCode()})
	case err != nil:
		return nil, notInstalled(err)
	case stdout == "" && stderr != "":
		// A missing socket directory is "error creating …" with status 0.
		return nil, s.failed(&ExitError{Verb: verb, Stderr: stderr})
	}
	return []byte(stdout), nil
}

// run runs cmd and returns what it printed; err is that of cmd.Run.
//
// It prints into files. A client passes its stdout to the server, and a frozen
// server keeps a pipe open for good: its reader waits 6 s and more after the client
// was killed, and WaitDelay throws away what a busy machine had not read yet. Since
// 3.2 the client writes all by itself, so at its end all is in the file.
func run(cmd *exec.Cmd) (stdout, stderr string, err error) {
	var files [2]*os.File
	for i := range files {
		if files[i], err = outputFile(); err != nil {
			return "", "", fmt.Errorf("cannot keep what tmux prints: %w", err)
		}
		defer files[i].Close() //nolint:errcheck // read back already
	}
	cmd.Stdout, cmd.Stderr = files[0], files[1]
	err = cmd.Run()
	var text [2]string
	for i, f := range files {
		// The descriptor shares its offset with the client's: read from the start.
		b, rerr := io.ReadAll(io.NewSectionReader(f, 0, maxOutputBytes))
		if rerr != nil {
			return "", "", rerr
		}
		text[i] = string(b)
	}
	return text[0], text[1], err
}

// query runs a command in a server that is there: -N never starts one. ErrNoServer
// from it is the truth: where the recorded server lives and only its socket was
// lost, query brings the socket back first.
func (s *Server) query(ctx context.Context, command ...string) ([]byte, error) {
	return s.queryEnv(ctx, nil, command...)
}

func (s *Server) queryEnv(ctx context.Context, env []string, command ...string) ([]byte, error) {
	out, err := s.call(ctx, env, []string{"-N"}, command...)
	if !errors.Is(err, ErrNoServer) {
		return out, err
	}
	switch rerr := s.RecoverSocket(ctx); {
	case errors.Is(rerr, ErrNoServer):
		return nil, err
	case rerr != nil:
		return nil, rerr
	}
	return s.call(ctx, env, []string{"-N"}, command...)
}

// lines splits what a client printed; blank lines stand for panes not ours.
func lines(out []byte) []string {
	var list []string
	for l := range strings.Lines(string(out)) {
		if l = strings.TrimSuffix(l, "\n"); l != "" {
			list = append(list, l)
		}
	}
	return list
}
