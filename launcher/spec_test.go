package launcher

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"berth/clients"
	"berth/internal/home"
	"berth/internal/protocol"
	"berth/internal/provider"
	"berth/manifest"
)

// oddSpec is a spec with everything in it that a pipe, a shell or JSON would spoil.
func oddSpec(dir string) Spec {
	return Spec{
		Home: home.Home{Dir: dir, ID: "id", Sockets: dir + "/sock"}, Run: "0m4zr8t1c9ab77xq", Session: "7k3fq2m9x0abcdef", Attempt: 3,
		Provider: provider.Provider{Name: "odd", Start: []string{"x", "{prompt}"}, Env: map[string]string{"K": "\xff"}, Submit: provider.Submit{Keys: "\r", Delay: time.Second}},
		Model:    "m\xfe", NativeID: "n", Resume: true,
		Client: Command{
			Path: "/bin/\xff", Argv: []string{"a", "", "-", "--", "it's \"q\"", "\n", "x;", "#{pane}", "$HOME", "\xff\xfe", endMark}, Env: []string{"A=\xc3\x28", "B=" + endMark},
			Cwd: "/work/\xff", Umask: 0o277, Size: protocol.Size{Cols: 80, Rows: 24},
		},
		Prompt: bytes.Repeat([]byte("\x00\xff\n\x1b[201~"), 1<<17), Opening: []byte(endMark), Spare: []string{"tmux"}, KeepPane: true,
	}
}

func TestSpecsArriveByteForByte(t *testing.T) {
	var pipe bytes.Buffer
	want := oddSpec("/home/\xff")
	if err := write(&pipe, want); err != nil {
		t.Fatal(err)
	}
	var got Spec
	if err := read(&pipe, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\ngot  %q\nwant %q", err, got.Client.Argv, want.Client.Argv)
	}
}

// A spec is whole or nothing: wherever its writer dies, its reader does nothing.
func TestACutSpecIsNone(t *testing.T) {
	s := oddSpec("/home")
	s.Prompt = s.Prompt[:20]
	var pipe bytes.Buffer
	if err := write(&pipe, s); err != nil {
		t.Fatal(err)
	}
	whole := pipe.Bytes()
	for n := range len(whole) {
		if err := read(bytes.NewReader(whole[:n]), new(Spec)); err == nil {
			t.Fatalf("%d bytes of %d are taken for a spec", n, len(whole))
		}
	}
	if err := read(bytes.NewReader(whole[:len(whole)-1]), new(Spec)); !errors.Is(err, errNoSpec) {
		t.Errorf("error %v", err)
	}
}

// launchDir is a home with the directory of the odd spec's run.
func launchDir(t *testing.T) Spec {
	t.Helper()
	s := oddSpec(t.TempDir())
	must(t, os.Mkdir(filepath.Join(s.Home.Dir, "runs"), 0o700))
	if err := manifest.Publish(s.Dir(), manifest.Manifest{Run: s.Run, Session: s.Session, Provider: "odd"}); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestASupervisorIsToldEverythingAndShowsNothing(t *testing.T) {
	s := launchDir(t)
	l, err := StartSupervisor(s, []string{"PATH=" + os.Getenv("PATH"), "API_KEY=planted", "CLAUDECODE=1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Await(30 * time.Second); err != nil {
		t.Fatal(err)
	}
	told, err := os.ReadFile(s.Dir().Path("told"))
	if err != nil {
		t.Fatal(err)
	}
	var got Spec
	if err := read(bytes.NewReader(told), &got); err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("%v\ntold %+v\nof   %+v", err, got.Client, s.Client)
	}
	data, err := os.ReadFile(s.Dir().Path("environ"))
	if err != nil {
		t.Fatal(err)
	}
	environ := string(data)
	for _, leak := range []string{"planted", "CLAUDECODE"} {
		if strings.Contains(environ, leak) {
			t.Errorf("its own environment: %s", environ)
		}
	}
	for _, mark := range []string{clients.RoleMark + "=" + clients.RoleSupervisor, clients.RunDirMark + "="} {
		if !strings.Contains(environ, mark) {
			t.Errorf("its own environment lacks %s: %s", mark, environ)
		}
	}
}

func TestALaunchTellsHowItWent(t *testing.T) {
	for _, c := range []struct{ name, model, says string }{
		{"well", "m", ""},
		{"with a word", "fails", "it did not work"},
		{"without a word", "dies", "ended while starting"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := launchDir(t)
			s.Model = c.model
			l, err := StartSupervisor(s, os.Environ())
			if err != nil {
				t.Fatal(err)
			}
			err = l.Await(30 * time.Second)
			if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("error %v, want %q", err, c.says)
			}
		})
	}
}

func TestNoSupervisorWithoutARun(t *testing.T) {
	s := oddSpec(filepath.Join(t.TempDir(), "gone"))
	if _, err := StartSupervisor(s, os.Environ()); err == nil || !strings.Contains(err.Error(), s.Run) {
		t.Errorf("error %v", err)
	}
}

// What comes through the pipe is a spec or an error, never half of one: what is
// taken is taken again as the same.
func FuzzReadSpec(f *testing.F) {
	var whole bytes.Buffer
	if err := write(&whole, Spec{Run: "r", Client: Command{Argv: []string{"a"}, Env: []string{"A=1"}}}); err != nil {
		f.Fatal(err)
	}
	f.Add(whole.Bytes())
	f.Add([]byte(endMark))
	f.Add([]byte("{}" + endMark))
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s Spec
		if err := read(bytes.NewReader(data), &s); err != nil {
			return
		}
		if !bytes.HasSuffix(data, []byte(endMark)) {
			t.Fatal("taken without its end")
		}
		var again bytes.Buffer
		var r Spec
		if err := write(&again, s); err != nil {
			t.Fatal(err)
		}
		if err := read(&again, &r); err != nil || !reflect.DeepEqual(s, r) {
			t.Fatalf("%+v became %+v (%v)", s, r, err)
		}
	})
}
