package screen

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// read gives in to host in the parts that end at cuts and writes down what
// came of it: keys as they are, ⟨kind⟩ and bytes of a reply, ⟨detach⟩ and the
// rest.
func read(host *Input, in []byte, cuts ...int) string {
	var s strings.Builder
	from := 0
	for _, cut := range append(cuts, len(in)) {
		res := host.Feed(in[from:cut])
		at := 0
		for _, r := range res.Replies {
			fmt.Fprintf(&s, "%s⟨%d⟩%s⟨⟩", res.Keys[at:r.At], r.Kind, r.Raw)
			at = r.At
		}
		s.Write(res.Keys[at:])
		if res.Detach {
			fmt.Fprintf(&s, "⟨detach⟩%s%s", res.After, in[cut:])
			break
		}
		from = cut
	}
	s.Write(host.Flush())
	return s.String()
}

func TestDetachKeyInAllItsForms(t *testing.T) {
	for _, key := range []string{
		"\x1c", "\x1b[92;5u", "\x1b[92;5:1u", "\x1b[92;69u", "\x1b[92;133u", "\x1b[92;197:1u", "\x1b[92:124;5u", "\x1b[92::92;5;28u", "\x1b[27;5;92~", "\x1b[27;69;92~",
	} {
		for i := 0; i <= len(key); i++ {
			if got := read(new(Input), []byte("a"+key+"b\x1c"), 1+i); got != "a⟨detach⟩b\x1c" {
				t.Errorf("%q split at %d: %q", key, i, got)
			}
		}
		if got := read(&Input{NoDetach: true}, []byte(key)); got != key {
			t.Errorf("%q, no detach key: %q", key, got)
		}
		paste := "\x1b[200~" + key + "\x1b[201~"
		if got := read(new(Input), []byte(paste+"\x1c")); got != paste+"⟨detach⟩" {
			t.Errorf("%q pasted: %q", key, got)
		}
	}
}

func TestKeysPassUntouched(t *testing.T) {
	for _, in := range []string{
		"hello é 日本\r", "\x1b", "\x1bx", "\x1b\x1b", "\x1b[A", "\x1bOP", "\x1b[1;5C", "\x1b[3~", "\x1b[M !!", "\x1b[<0;3;4M", "\x1b[<0;3;4m", "\x1b[I", "\x1b[O",
		"\x1b[1;2R", "\x1b[1;16R", "\x1b[R", "\x1b[97;5u", "\x1b[92;5:3u", "\x1b[92;6u", "\x1b[92u", "\x1b[27;5;93~", "\x1b[27;5~", "\x1b[[A",
		"\x1b]", "\x1b]a", "\x1bP", "\x1bPx", "\x1b_", "\x1b_x", "\x1b]9;x\a", "\x1b]11\r", "\x1b]11;rgb\r", "\x1b[12\r", "\x1b[12\x7f", "\x1b[1é",
		"\x1b[200~x\x1b[c\x1b[?62c\x1b[201~", "\x1b[200~\x1b[201", "\x1b[200~\x1b[20\x1b[201~",
		"\x1b[" + strings.Repeat("1", 2*maxHeldBytes) + "n", "\x1b]11;" + strings.Repeat("1", 2*maxHeldBytes) + "\a",
	} {
		p := []byte(in)
		var host Input
		res := host.Feed(p)
		if got := string(res.Keys) + string(host.Flush()); got != in || len(res.Replies) != 0 || res.Detach || host.Held() {
			t.Errorf("%q: keys %q, %+v", in, got, res)
		}
		if len(res.Keys) > 0 && &res.Keys[0] != &p[0] {
			t.Errorf("%q was copied", in)
		}
	}
}

func TestRepliesAreTakenOut(t *testing.T) {
	for in, kind := range map[string]Kind{
		"\x1b[?62;22c": DA1, "\x1b[>41;380;0c": DA2, "\x1bP!|00000000\x1b\\": DA3, "\x1bP>|kitty(0.40)\x1b\\": XTVersion,
		"\x1b[0n": DSR, "\x1b[?997;1n": ColorScheme, "\x1b[?13n": OtherDSR, "\x1b[?2026;2$y": DECRQM, "\x1b[4;2$y": DECRQM,
		"\x1b[?0u": KittyKeys, "\x1b[>4;2m": ModifyKeys, "\x1b[8;24;80t": WindowReport, "\x1b[4;480;640t": WindowReport, "\x1b[6;20;8t": WindowReport,
		"\x1b[48;24;80;480;640t": WindowReport, "\x1b]lname\x1b\\": WindowReport, "\x1b[?3;4R": DECXCPR, "\x1b[?3;4;1R": DECXCPR,
		"\x1b[2;2R": CPR, "\x1b[1;1R": CPR, "\x1b[1;17R": CPR, "\x1b]11;rgb:0000/0000/0000\x1b\\": Color, "\x1b]10;rgb:ffff/ffff/ffff\a": Color,
		"\x1b]4;1;rgb:cdcd/0000/0000\a": Palette, "\x1b]52;c;aGk=\a": Clipboard, "\x1bP1+r544e=78\x1b\\": XTGetTCap, "\x1bP0+r\x1b\\": XTGetTCap,
		"\x1bP1$r0m\x1b\\": DECRQSS, "\x1b_Gi=31;OK\x1b\\": KittyGraphics, "\x1b[?2;0;800;600S": Other,
	} {
		want := fmt.Sprintf("a⟨%d⟩%s⟨⟩b", kind, in)
		for i := 0; i <= len(in)+2; i++ {
			if got := read(new(Input), []byte("a"+in+"b"), i); got != want {
				t.Errorf("%q split at %d: %q, want %q", in, i, got, want)
			}
		}
	}
}

func TestExpectedCursorReportIsNoF3(t *testing.T) {
	var host Input
	host.Expect(CPR)
	if got, want := read(&host, []byte("\x1b[1;5R\x1b[1;5R")), fmt.Sprintf("⟨%d⟩\x1b[1;5R⟨⟩\x1b[1;5R", CPR); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	host.Expect(CPR)
	if got, want := read(&host, []byte("\x1b[7;5R\x1b[1;5R")), fmt.Sprintf("⟨%d⟩\x1b[7;5R⟨⟩\x1b[1;5R", CPR); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestOpenPasteCanBeClosed(t *testing.T) {
	var host Input
	for _, b := range []byte("\x1b[200~half") {
		host.Feed([]byte{b})
	}
	if !host.PasteOpen() || host.Held() || string(host.ClosePaste()) != "\x1b[201~" || host.PasteOpen() || host.ClosePaste() != nil {
		t.Error("the paste is not open, or not closed")
	}
	if got := read(&host, []byte("\x1c")); got != "⟨detach⟩" {
		t.Errorf("after the paste: %q", got)
	}
}

// The reference reads the whole input with regular expressions, see
// scanner_test.go.
var (
	refReply = regexp.MustCompile(`^\x1b(?:\[(?:[?>][ -;]*c|0*[03]?(?:[;:][0-;]*)?n|\?[0-;]*n|\??[0-;]*\$y|\?[0-;]*[uRS]|>[0-;]*m|[0-;]+t)` +
		`|\](?:0*(?:4|5|1[0-9]|21|22|50|52|60|61);|[lL])[ -\xff]*(?:\x07|\x1b\\)` +
		`|P(?:>\||!\||[01][+$]r)[ -\xff]*\x1b\\|_G[ -\xff]*\x1b\\)`)
	refCPR    = regexp.MustCompile(`^\x1b\[([0-:]*);([0-:]*)R`)
	refDetach = regexp.MustCompile(`^(?:\x1c|\x1b\[92(?::[0-9:]*)?;0*(?:5|69|133|197)(?::1?)?(?:;[0-;]*)?u|\x1b\[27;0*(?:5|69|133|197)(?::[0-:]*)?;92~)`)
	refPaste  = regexp.MustCompile(`(?s)^\x1b\[200~.*?(?:\x1b\[201~|$)`)
)

func referenceInput(in []byte) string {
	s := latin1(in)
	var o strings.Builder
	keep := func(n int) { o.Write(unlatin1(s[:n])); s = s[n:] }
	for s != "" {
		switch paste, detach, reply := refPaste.FindString(s), refDetach.FindString(s), refReply.FindString(s); {
		case paste != "":
			keep(len(paste))
		case detach != "":
			fmt.Fprintf(&o, "⟨detach⟩%s", unlatin1(s[len(detach):]))
			return o.String()
		case reply == "" || len([]rune(reply)) > maxHeldBytes:
			if m := refCPR.FindStringSubmatch(s); m != nil {
				row, col := number([]byte(m[1])), number([]byte(m[2]))
				if row > 1 || row == 1 && (col < 2 || col > 16) {
					fmt.Fprintf(&o, "⟨%s⟩", m[0])
					s = s[len(m[0]):]
					continue
				}
			}
			keep(len(string([]rune(s)[0])))
		default:
			fmt.Fprintf(&o, "⟨%s⟩", unlatin1(reply))
			s = s[len(reply):]
		}
	}
	return o.String()
}

var kinds = regexp.MustCompile(`⟨\d+⟩((?s:.*?))⟨⟩`)

func FuzzInput(f *testing.F) {
	for _, s := range []string{
		"ls\r\x1b[A\x1b[?62;22c\x1b]11;rgb:0/0/0\a\x1b[1;5R", "\x1b[200~a\x1cb\x1b[201~\x1c", "\x1b[92;5u", "\x1b[27;5;92~x", "\x1bP>|x\x1b\\\x1b", "\x1b]4;\x1b]l\x1b\\",
		"\x1b_Gi=1;OK\x1b\\\x1b[2;3R", "\x1b[200~\x1b[20\x1b[201~y",
	} {
		f.Add([]byte(s), uint16(2), uint16(5))
	}
	f.Fuzz(func(t *testing.T, in []byte, a, b uint16) {
		if bytes.Contains(in, []byte("⟨")) {
			t.Skip("the notation's own sign")
		}
		i := int(a) % (len(in) + 1)
		j := i + int(b)%(len(in)-i+1)
		got := read(new(Input), in)
		if parts := read(new(Input), in, i, j); parts != got {
			t.Fatalf("split at %d, %d: %q\nwant %q", i, j, parts, got)
		}
		if got, want := kinds.ReplaceAllString(got, "⟨$1⟩"), referenceInput(in); got != want {
			t.Fatalf("%q\nwant %q", got, want)
		}
	})
}
