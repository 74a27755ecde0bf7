package demo

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"berth/manifest"

	"github.com/creack/pty"
	"golang.org/x/term"
)

func TestConversationIsRecordedAndResumed(t *testing.T) {
	p := newPlace(t)
	c := p.chatting("--session-id=one", "--model=small")
	p.until("ready", ready)
	if _, err := os.Stat(filepath.Join(p.home, "one.jsonl")); err == nil {
		t.Error("there is a history before the first message")
	}
	c.send("good evening\r")
	c.expect("You said: good evening")
	c.expect("● idle")
	c.send("/exit\r")
	c.expect(modesOff)
	c.expect("--resume=one takes it up again")
	c.ends(0)
	want := []string{"user: good evening", "assistant: You said: good evening\nI have written it down."}
	if got := p.history("one"); !slices.Equal(got, want) {
		t.Errorf("history %q, want %q", got, want)
	}
	path := filepath.Join(p.home, "one.jsonl")
	var got []string
	for _, a := range p.announced() {
		if a.Provider != "demo" || a.Source != "agent" {
			t.Errorf("announced by %q, %q", a.Provider, a.Source)
		}
		got = append(got, fmt.Sprint(a.NativeID, a.HistoryPath, a.Ready, a.Recorded, a.Turn))
	}
	for i, want := range []string{
		fmt.Sprint("one", path, true, false, "idle"),
		fmt.Sprint("", "", false, false, "busy"),
		fmt.Sprint("one", path, false, true, ""),
		fmt.Sprint("", "", false, false, "idle"),
	} {
		if i >= len(got) || got[i] != want {
			t.Fatalf("announced\n%s\nwant as number %d %s", strings.Join(got, "\n"), i, want)
		}
	}

	c = p.start("--resume=one")
	c.expect("good evening") // the title
	c.expect("You said: good evening")
	c.send("again\r")
	c.expect("You said: again")
	c.expect("● idle")
	if got := p.history("one"); len(got) != 4 {
		t.Errorf("history %q", got)
	}
	second := p.start("--resume=one") // nothing guards the conversation
	second.expect("You said: again")
}

func TestRefusals(t *testing.T) {
	p := newPlace(t)
	if err := os.WriteFile(filepath.Join(p.home, "used.jsonl"), []byte(`{"id":"used"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"--resume=nobody"}, 1, "no conversation nobody"},
		{[]string{"--session-id=used"}, 1, "in use already"},
		{[]string{"--session-id=../x"}, 1, "cannot be the id"},
		{[]string{"--session-id=a", "--resume=b"}, 2, "give one of them"},
		{[]string{"--what"}, 2, "not defined: -what"},
		{[]string{"--flood=x"}, 2, "not a number of megabytes"},
		{[]string{"--role=king"}, 2, "no role"},
		{[]string{"--resume=used", "extra"}, 2, `unexpected argument "extra"`},
		{[]string{"--exit-at-once=3"}, 3, "exiting with 3"},
		{[]string{"DEMO_AGENT_FLAGS=--silent --exit-at-once 4"}, 4, "exiting with 4"},
	} {
		c := p.start(tc.args...)
		c.expect(tc.says)
		c.ends(tc.status)
	}
	out, err := p.command().CombinedOutput()
	if err == nil || !strings.Contains(string(out), "needs a terminal") {
		t.Errorf("without a terminal: %v, %q", err, out)
	}
}

func TestSignals(t *testing.T) {
	for _, tc := range []struct {
		signal syscall.Signal
		status int
	}{{syscall.SIGTERM, 143}, {syscall.SIGHUP, 129}, {syscall.SIGINT, 0}} {
		t.Run(tc.signal.String(), func(t *testing.T) {
			p := newPlace(t)
			c := p.start("--session-id=s")
			c.expect(modesOn)
			c.expect("● idle")
			c.send("/busy 100\r")
			c.expect("● busy")
			if err := c.cmd.Process.Signal(tc.signal); err != nil {
				t.Fatal(err)
			}
			c.expect(modesOff)
			c.ends(tc.status)
			if after, err := term.GetState(int(c.tty.Fd())); err != nil || *c.cooked != *after {
				t.Errorf("the terminal was %+v and is %+v, %v", c.cooked, after, err)
			}
		})
	}
}

func TestIgnoresSignals(t *testing.T) {
	c := newPlace(t).chatting("DEMO_AGENT_FLAGS=--ignore-term")
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		if err := c.cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	c.send("still there?\r")
	c.expect("You said: still there?")
}

func TestPasteIsOneMessage(t *testing.T) {
	p := newPlace(t)
	c := p.chatting("--session-id=s")
	body := strings.Repeat("naïve «text» 漢字 🙂\r", 6000)
	c.send("%s%s%s\r", pasteBegin, body, pasteEnd)
	c.expect("That was long: 108000 characters in 6001 lines")
	c.expect("● idle")
	if want := "user: " + strings.ReplaceAll(body, "\r", "\n"); p.history("s")[0] != want {
		t.Error("the message is not what was pasted")
	}
}

func TestEditing(t *testing.T) {
	p := newPlace(t)
	c := p.chatting("--session-id=s")
	c.send("one two  three\x17\x17four\x1b[D\x1b[D\x1b[3~\x7f!\x01>\x05<\r")
	c.expect("You said: >one f!r<")
	c.expect("● idle")
	c.send("draft\x1b[A\x1b[B!\r")
	c.expect("You said: draft!")
	c.send("\x1b[A\x1b[A\r")
	c.expect("You said: >one f!r<")
	c.send("gone\x15a\x1b\rb\r") // alt-enter breaks the line
	c.expect("in 2 lines")
	c.expect("● idle")
	c.send("x\x03") // clears the line
	c.send("\x03")
	c.expect("ctrl-c again leaves")
	c.send("\x03")
	c.ends(0)
}

func TestAsk(t *testing.T) {
	p := newPlace(t)
	c := p.chatting()
	c.send("/ask delete it?\r")
	c.expect("● waiting")
	c.send("text that is no answer\r\x1b[A")
	p.until("waiting", func(a manifest.Announcement) bool {
		return a.Turn == manifest.TurnWaiting && a.WaitingFor == "delete it?"
	})
	c.send("y")
	c.expect("you said yes")
	c.expect("● idle")
	c.send("/ask\r")
	c.expect("● waiting")
	c.send("\x1b") // a lone escape
	c.expect("you said no")
}

func TestQueueAndInterrupt(t *testing.T) {
	p := newPlace(t)
	c := p.chatting("--session-id=s")
	c.send("/busy 0.05\rfirst\r/help me\r/lines 2\r")
	c.expect("You said: first")
	c.expect("line 2")
	c.send("/busy 1000\rnever\r")
	c.expect("1 queued")
	c.send("\x1b")
	c.expect("interrupted")
	c.expect("● idle")
	c.send("after\r")
	c.expect("You said: after")
	c.expect("● idle")
	if got := p.history("s"); len(got) != 4 || got[2] != "user: after" {
		t.Errorf("history %q", got)
	}
}

func TestRun(t *testing.T) {
	c := newPlace(t).chatting("FROM_THE_AGENT=yes")
	c.send("/run echo $FROM_THE_AGENT; printf no-end; exit 3\r")
	c.expect("  yes")
	c.expect("  no-end")
	c.expect("[exit status 3]")
	c.expect("● idle")
	c.send("/run echo pid $$.; sleep 1000\r")
	c.expect("  pid ")
	c.expect(".")
	m := regexp.MustCompile(`pid (\d+)\.`).FindStringSubmatch(c.output())
	c.send("\x1b")
	c.expect("interrupted")
	c.expect("● idle")
	if pid, _ := strconv.Atoi(m[1]); syscall.Kill(pid, 0) != syscall.ESRCH {
		t.Errorf("process %d is there", pid)
	}
}

func TestClear(t *testing.T) {
	p := newPlace(t)
	c := p.chatting("--session-id=s")
	c.send("before\r")
	c.expect("You said: before")
	c.expect("● idle")
	c.send("/clear\r")
	c.expect("a new conversation, ")
	c.send("after\r")
	c.expect("You said: after")
	c.expect("● idle")
	var ids []string
	for _, a := range p.announced() {
		if a.NativeID != "" {
			ids = append(ids, fmt.Sprint(a.NativeID, a.Recorded))
		}
	}
	if len(ids) != 4 || ids[0] != "sfalse" || ids[1] != "strue" {
		t.Fatalf("announced %q", ids)
	}
	next := strings.TrimSuffix(ids[2], "false")
	if ids[3] != next+"true" || next == "s" {
		t.Errorf("announced %q", ids)
	}
	if got := p.history(next); len(got) != 2 || got[0] != "user: after" || len(p.history("s")) != 2 {
		t.Errorf("history %q", got)
	}
}

func TestFail(t *testing.T) {
	c := newPlace(t).chatting()
	c.send("/fail x\r")
	c.expect("needs a number")
	c.send("/fail 7\r")
	c.expect("failing with 7")
	c.ends(7)
}

func TestFlood(t *testing.T) {
	c := newPlace(t).chatting("--flood=1")
	c.expect("flooded")
	c.send("/flood 2\r")
	c.expect("flood 000000001 ~\r\n")
	c.expect("flooded")
	c.expect("● idle")
	if n := len(c.output()); n < 3<<20 {
		t.Errorf("%d bytes", n)
	}
}

func TestTermDuringAFloodNobodyReads(t *testing.T) {
	p := newPlace(t)
	c := p.command("--flood=100")
	tty, err := pty.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	b := make([]byte, 4096)
	for !bytes.Contains(b, []byte("flood")) {
		if _, err := tty.Read(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if c.Wait(); c.ProcessState.ExitCode() != 143 {
		t.Errorf("it ended with %s", c.ProcessState)
	}
}

func TestChildrenOutliveTheAgent(t *testing.T) {
	p := newPlace(t)
	c := p.start("--children")
	children := func() map[int]bool {
		pids := map[int]bool{}
		for _, m := range regexp.MustCompile(`child: pid (\d+)`).FindAllStringSubmatch(c.output(), -1) {
			pid, _ := strconv.Atoi(m[1])
			pids[pid] = true
		}
		return pids
	}
	t.Cleanup(func() {
		for pid := range children() {
			syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck // it may be gone
		}
	})
	c.expect("● idle")
	c.send("/children\r")
	c.expect("double-forked child: pid ")
	c.expect(frameEnd)
	pids := children()
	if len(pids) != 8 {
		t.Fatalf("children %v", pids)
	}
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.ends(-1)
	alive := 0
	for pid := range pids {
		if syscall.Kill(pid, 0) == nil {
			alive++
		}
	}
	if alive < 6 { // the plain children may die of the terminal's hang-up
		t.Errorf("%d of 8 are alive", alive)
	}
}

func TestEchoRaw(t *testing.T) {
	p := newPlace(t)
	file := filepath.Join(t.TempDir(), "raw")
	c := p.start("--echo-raw=" + file)
	p.until("ready", ready)
	var all []byte
	for i := range 256 {
		all = append(all, byte(i))
	}
	body := pasteBegin + strings.Repeat(string(all), 400) + pasteEnd + "\r\x1b"
	c.send("%s", body)
	eventually(t, "all bytes", func() bool {
		got, _ := os.ReadFile(file)
		return len(got) >= len(body)
	})
	if got, _ := os.ReadFile(file); string(got) != body {
		t.Error("other bytes came")
	}
	if !strings.Contains(c.output(), "\x1b[?2004h") {
		t.Error("bracketed paste is off")
	}
}

func TestDialog(t *testing.T) {
	p := newPlace(t)
	c := p.start("--dialog")
	c.expect("● blocked")
	c.send("\r") // Enter means no
	c.expect("not trusted")
	c.ends(1)
	c = p.start("--dialog")
	c.expect("● blocked")
	if got := p.announced(); len(got) > 0 {
		t.Errorf("announced %+v", got)
	}
	c.send("y")
	p.until("ready", ready)
	c.send("hello\r")
	c.expect("Hello! You said: hello")
}

func TestAnnouncements(t *testing.T) {
	t.Run("late", func(t *testing.T) {
		p := newPlace(t)
		c := p.chatting("--late=200ms", "--session-id=s")
		c.send("early\r")
		c.expect("You said: early")
		c.expect("● idle")
		p.until("recorded", func(a manifest.Announcement) bool { return a.Recorded })
		if got := p.announced(); !got[0].Ready {
			t.Errorf("announced %+v", got)
		}
	})
	t.Run("silent", func(t *testing.T) {
		p := newPlace(t)
		c := p.chatting("--silent")
		c.send("hm\r")
		c.expect("You said: hm")
		c.expect("● idle")
		if got := p.announced(); len(got) > 0 {
			t.Errorf("announced %+v", got)
		}
	})
	t.Run("no id", func(t *testing.T) {
		p := newPlace(t)
		c := p.chatting("--no-announce-id", "--no-history")
		c.send("hm\r")
		c.expect("You said: hm")
		c.expect("● idle")
		got := p.announced()
		if len(got) != 3 || slices.ContainsFunc(got, func(a manifest.Announcement) bool { return a.NativeID != "" || a.HistoryPath != "" || a.Recorded }) {
			t.Errorf("announced %+v", got)
		}
		if files, _ := os.ReadDir(p.home); len(files) > 0 {
			t.Errorf("recorded %v", files)
		}
	})
	t.Run("nobody to tell", func(t *testing.T) {
		c := newPlace(t).chatting("BERTH_RUN_DIR=/nowhere/at/all")
		c.send("hm\r")
		c.expect("You said: hm")
	})
}

func TestDiesOnFirstResume(t *testing.T) {
	p := newPlace(t)
	c := p.chatting("--session-id=s", "--die-on-resume")
	c.send("hm\r")
	c.expect("You said: hm")
	c.expect("● idle")
	c.send("\x04")
	c.ends(0)
	c = p.start("--resume=s", "--die-on-resume")
	c.expect("dying on the first resume")
	c.ends(1)
	p.start("--resume=s", "--die-on-resume").expect("You said: hm")
}

func TestSuspend(t *testing.T) {
	c := newPlace(t).chatting()
	c.send("half\x1a")
	c.expect(modesOff)
	stopped := func() bool {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.cmd.Process.Pid))
		return strings.Contains(string(stat), ") T ")
	}
	if _, err := os.Stat("/proc/self/stat"); err == nil {
		eventually(t, "stopped", stopped)
	}
	if err := c.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	c.expect(modesOn)
	c.expect("half")
	c.send(" and half\r")
	c.expect("You said: half and half")
}

func TestResize(t *testing.T) {
	c := newPlace(t).chatting()
	c.send("hello\r")
	c.expect("● idle")
	if err := pty.Setsize(c.tty, &pty.Winsize{Rows: 5, Cols: 20}); err != nil {
		t.Fatal(err)
	}
	c.expect("\x1b[5;1H\x1b[2K ● idle · enter sen…")
	c.expect(frameEnd)
	if err := pty.Setsize(c.tty, &pty.Winsize{Rows: 30, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	c.expect("Hello! You said: hello")
	c.expect("\x1b[30;1H")
}

func TestNothingIsDrawnForNothing(t *testing.T) {
	c := newPlace(t).chatting()
	c.send("\x1b[C\x1b[D\x1b]11;rgb:0000/0000/0000\x07\x1b[?62c") // moves that do nothing, late answers
	c.send("x")
	c.expect("x")
	c.expect(frameEnd)
	if n := strings.Count(c.output(), frameBegin); n > 3 {
		t.Errorf("%d frames: %q", n, c.output())
	}
}
