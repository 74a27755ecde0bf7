package screen

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// feed gives in to a fresh Scanner in the parts that end at cuts.
func feed(in []byte, cuts ...int) (out []byte, qs []Query, s *Scanner) {
	s = new(Scanner)
	from := 0
	for _, cut := range append(cuts, len(in)) {
		o, q := s.Feed(in[from:cut])
		out = append(out, o...)
		qs = append(qs, q...)
		from = cut
	}
	return out, qs, s
}

func raws(qs []Query) string {
	var s []string
	for _, q := range qs {
		s = append(s, string(q.Raw))
	}
	return fmt.Sprintf("%q", s)
}

func TestQueriesAreTakenOutAndNamed(t *testing.T) {
	for _, c := range []struct {
		in   string
		kind Kind
		args string
	}{
		{"\x1b[c", DA1, ""}, {"\x1b[0c", DA1, "0"}, {"\x1bZ", DA1, ""},
		{"\x1b[>c", DA2, ""}, {"\x1b[>0c", DA2, "0"}, {"\x1b[=c", DA3, ""},
		{"\x1b[>q", XTVersion, ""}, {"\x1b[>0q", XTVersion, "0"},
		{"\x1b[5n", DSR, "5"}, {"\x1b[6n", CPR, "6"}, {"\x1b[?6n", DECXCPR, "6"},
		{"\x1b[?996n", ColorScheme, "996"}, {"\x1b[?15n", OtherDSR, "15"},
		{"\x1b[?2026$p", DECRQM, "2026"}, {"\x1b[4$p", DECRQM, "4"},
		{"\x1b[?u", KittyKeys, ""}, {"\x1b[?4m", ModifyKeys, "4"},
		{"\x1b[14t", WindowReport, "14"}, {"\x1b[14;2t", WindowReport, "14,2"}, {"\x1b[16t", WindowReport, "16"},
		{"\x1b[18t", WindowReport, "18"}, {"\x1b[19t", WindowReport, "19"}, {"\x1b[21t", WindowReport, "21"},
		{"\x1b]4;1;?;2;?\a", Palette, "4,1,?,2,?"},
		{"\x1b]10;?\x1b\\", Color, "10,?"}, {"\x1b]11;?\a", Color, "11,?"}, {"\x1b]12;?\a", Color, "12,?"},
		{"\x1b]17;?\a", Color, "17,?"}, {"\x1b]19;?\a", Color, "19,?"}, {"\x1b]10;?;?;?\a", Color, "10,?,?,?"},
		{"\x1b]011;?\a", Color, "011,?"},
		{"\x1b]52;c;?\a", Clipboard, "52,c,?"},
		{"\x1bP+q544e;436f\x1b\\", XTGetTCap, "544e,436f"}, {"\x1bP$q q\x1b\\", DECRQSS, " q"},
		{"\x1b_Gi=1,a=q,s=1,v=1;AAAA\x1b\\", KittyGraphics, ""},
		{"\x1b[?2;1S", Other, "2,1"}, {"\x1b[0x", Other, "0"}, {"\x1b]1337;ReportCellSize\a", Other, "1337,ReportCellSize"},
	} {
		out, qs, s := feed([]byte("a" + c.in + "b"))
		if string(out) != "ab" || len(qs) != 1 || qs[0].Kind != c.kind || string(qs[0].Raw) != c.in || strings.Join(qs[0].Args, ",") != c.args {
			t.Errorf("%q: out %q, queries %+v; want kind %d, args %s", c.in, out, qs, c.kind, c.args)
		}
		if s.Held() != 0 || !s.Ground() {
			t.Errorf("%q: held %d, ground %v", c.in, s.Held(), s.Ground())
		}
	}
}

func TestWhatIsNoQueryPassesUncopied(t *testing.T) {
	for _, in := range []string{
		"text, é, 日本, \xff\x9b", "\x1b[31mred\x1b[m", "\x1b[1;2H", "\x1b[?1c", "\x1b[5c", "\x1b[>1c", "\x1b[?62;22c",
		"\x1b[22t", "\x1b[8;24;80t", "\x1b[u", "\x1b[>1u", "\x1b[>4;1m", "\x1b[2 q", "\x1b[!p", "\x1b[7n", "\x1b[>4n",
		"\x1b]0;a ? title\a", "\x1b]11;#123456\a", "\x1b]4;1;red\a", "\x1b]52;c;aGk=\a", "\x1b]8;;https://x/?\x1b\\x\x1b]8;;\x1b\\",
		"\x1b]99;i=1;hi\a", "\x1b]777;notify;a;?\a", "\x1b]7501;state=idle:app=codex\a",
		"\x1bPq#0;2;0;0;0~\x1b\\", "\x1b_Ga=T,f=100;AAAA\x1b\\", "\x1b^pm\x1b\\", "\x1bXsos\x1b\\",
		"\x1b]11;?\x18", "\x1b]11;?\x1a", "\x1b[5\x18n", "\x1b[c\x1b"[:2] + "\u00e9", "\x1b(B\x1b7\x1b8",
	} {
		p := []byte(in)
		var s Scanner
		out, qs := s.Feed(p)
		if len(qs) != 0 || string(out) != in || &out[0] != &p[0] {
			t.Errorf("%q: out %q, queries %s", in, out, raws(qs))
		}
	}
}

func TestQueryThatCutsSomethingShort(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[3\x1b[cm":           "\x1b[3\x1b\\m",      // or the m would colour
		"\x1b]0;x\x1b[cy\a":       "\x1b]0;x\x1b\\y\a",  // an ESC inside a string ends it
		"\xe2\x82\x1b[c\xac":      "\xe2\x82\x1b\\\xac", // or they would join to a €
		"\x1b[\n0\x07c":           "\n\x07",             // controls inside it are obeyed at once
		"\x1b\x1b[c":              "\x1b\x1b\\",         //
		"\x1b]0;a\x1b\x1b]11;?\a": "\x1b]0;a\x1b\x1b\\", //
		"\x1bPq~~\x1b[c":          "\x1bPq~~\x1b\\",     // sixel streams on, its ESC is held
		"\x1b]\x01011;\x00?\a":    "",                   // terminals ignore controls there
		"\x1b[31m\x1b[c\x1b[m":    "\x1b[31m\x1b[m",     //
		"\x1b\n]11;?\a":           "",                   // nothing draws inside ESC … ]
		"\x1bP\a+q544e\x1b\\":     "",                   // a BEL does not end a DCS
		"\x1b]11;?\a\x1b]12;?\a!": "!",                  //
	} {
		out, qs, _ := feed([]byte(in))
		if string(out) != want || len(qs) == 0 {
			t.Errorf("%q: out %q, queries %s; want %q", in, out, raws(qs), want)
		}
	}
}

func TestHeldBytes(t *testing.T) {
	for _, c := range []struct {
		in   string
		held int
	}{
		{"a\x1b", 1}, {"a\x1b[", 2}, {"\x1b[?99", 5}, {"\x1b]1", 3}, {"\x1b]11;", 5}, {"\x1b]52;c;", 7}, {"\x1b]52;c;a", 0},
		{"\x1b]8;", 0}, {"\x1b]8;;http\x1b", 1}, {"\x1bPq", 0}, {"\x1bP+", 3}, {"\x1b_Ga=T", 6}, {"\x1b_Ga=T;", 0}, {"\x1b_Ga=q;AA", 9},
		{"\x1b(", 0}, {"é"[:1], 0},
		{"\x1b[" + strings.Repeat("1", maxHeldBytes-2), maxHeldBytes}, {"\x1b[" + strings.Repeat("1", maxHeldBytes-1), 0},
	} {
		out, _, s := feed([]byte(c.in))
		if s.Held() != c.held || s.Ground() || string(out)+string(s.Flush()) != c.in || s.Held() != 0 {
			t.Errorf("%.20q: held %d, want %d; ground %v", c.in, s.Held(), c.held, s.Ground())
		}
	}
}

func TestFlushedBytesAreNotTakenBack(t *testing.T) {
	for _, c := range [][2]string{{"\x1b", "[c"}, {"\x1b]0;t\x1b", "[c"}, {"\x1b[6", "n"}, {"\x1b[?25", "l"}} {
		var s Scanner
		out, _ := s.Feed([]byte(c[0]))
		got := string(out) + string(s.Flush())
		out, qs := s.Feed([]byte(c[1] + "."))
		if got += string(out); got != c[0]+c[1]+"." || len(qs) != 0 || !s.Ground() {
			t.Errorf("%q: %q, %s", c, got, raws(qs))
		}
	}
}

// streams are what agents and other programs were seen to write, shortened;
// the last has sequences that cut each other short.
var streams = []string{
	"\x1b[?2026h\x1b[?25l\x1b[2K\x1b[1A\x1b[G\x1b[38;2;215;119;87m✻\x1b[39m Thinking… (3s · esc to interrupt)\r\n\x1b[?25h\x1b[?2026l",
	"\x1b[?1049h\x1b[22;0;0t\x1b[>1u\x1b[?u\x1b[c\x1b]11;?\x1b\\\x1b[?2004h\x1b[?1004h\x1b[>4;2m\x1b[?1000;1002;1006h\x1b[H\x1b[2J",
	"\x1b]0;⠧ name | dir\a\x1b]7501;state=working:app=codex\a\x1b[6n\x1b[2 q\x1b=\x1b[?1h\x1b]8;id=1;https://x\x1b\\link\x1b]8;;\x1b\\",
	"\x1b]4;0;?;1;?\a\x1bP+q5463;524742\x1b\\\x1b[?2026$p\x1b[?2027$p\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b[>0q\x1b[14t日本語\x1b[?1016$p",
	"\x1bPq\"1;1;8;8#0;2;0;0;0~-\n~\x1b\\after\x1b(0lqk\x1b(B\x1b[!p\x1b[?1049l\x1b[<u\x1bc\x1b]2;done\x1b\\\x1b[5n\x1b]52;c;?\a\x1b[3\x1b[0c",
	"\x1b]0;x\x1b[cy\x1b]11;?\x1b]12;?\a\x1bPq~\x1b\x1b[6n\xe2\x82\x1b[5n\xac\x1b]8;;\x1b\x18\x1b[?2\x1a5l\x1b[?2\n5l\x1b]0;\x1b]2;t\a",
}

func TestAnySplitGivesTheSame(t *testing.T) {
	for _, in := range streams {
		out, qs, s := feed([]byte(in))
		for i := 0; i <= len(in); i++ {
			for _, j := range []int{i, min(i+1, len(in)), min(i+7, len(in))} {
				o, q, s2 := feed([]byte(in), i, j)
				if !bytes.Equal(o, out) || raws(q) != raws(qs) || s2.Modes() != s.Modes() {
					t.Fatalf("%q split at %d, %d: %q %s %+v; want %q %s %+v", in, i, j, o, raws(q), s2.Modes(), out, raws(qs), s.Modes())
				}
			}
		}
	}
}

// The reference works on the whole stream with regular expressions. Bytes
// become the code points of the same number, so that classes can name them.
var (
	refControl  = `[\x00-\x17\x19\x1c-\x1f\x7f]`
	refSequence = regexp.MustCompile(`^\x1b` + refControl + `*(?:` +
		`\[(?:[ -?]|` + refControl + `)*[@-~]` +
		`|\][^\x07\x18\x1a\x1b]*(?:\x07|\x1b\\)` +
		`|[PX^_][^\x18\x1a\x1b]*\x1b\\` +
		`|[ -/](?:[ -/]|` + refControl + `)*[0-~]` +
		`|[0-OQ-WYZ\\` + "`" + `-~])`)
	refCutShort = regexp.MustCompile(`^\x1b` + refControl + `*(?:` +
		`\[(?:[ -?]|` + refControl + `)*|\][^\x07\x18\x1a\x1b]*|[PX^_][^\x18\x1a\x1b]*|[ -/](?:[ -/]|` + refControl + `)*|)$`)
	refHalfChar = regexp.MustCompile(`(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})$`)
	refControls = regexp.MustCompile(refControl)
	refQuery    = regexp.MustCompile(`^\x1b(?:Z` +
		`|\[[=>]?0*(?:;[0-;]*|:[0-;]*)?c|\[>0*(?:[;:][0-;]*)?q|\[0*[56](?:[;:][0-;]*)?n|\[\?[0-;]*n|\[\??[0-;]*\$p|\[\?[0-;]*[umSg]` +
		`|\[0*(?:11|13|14|15|16|18|19|20|21)(?:[;:][0-;]*)?t|\[0*[01]?(?:[;:][0-;]*)?x` +
		`|\[[0-;]*(?:\*y|\$w|\$u|&u|\+x|#R|#\||'\|)` +
		`|\]0*[45](?:;[^;]*;[^;]*)*?;[^;]*;\?(?:;[^\x1b]*)?(?:\x1b\\)?` +
		`|\]0*1[0-9](?:;[^;\x1b]*)*;\?(?:;[^\x1b]*)?(?:\x1b\\)?` +
		`|\]0*52;[^;]*;\?(?:\x1b\\)?` +
		`|\]0*(?:21|22|50);?[^\x1b]*\?[^\x1b]*(?:\x1b\\)?|\]0*6[01](?:;[^\x1b]*)?(?:\x1b\\)?` +
		`|\]0*1337;Report[^\x1b]*(?:\x1b\\)?` +
		`|P(?:\+q|\+Q|\$q)[^\x1b]*\x1b\\` +
		`|_G(?:[^;,\x1b]*,)*a=q(?:[,;][^\x1b]*)?\x1b\\` +
		`)$`)
)

func latin1(b []byte) string {
	r := make([]rune, len(b))
	for i, c := range b {
		r[i] = rune(c)
	}
	return string(r)
}

func unlatin1(s string) []byte {
	var b []byte
	for _, r := range s {
		b = append(b, byte(r))
	}
	return b
}

// reference is what Feed and Flush must return for all of in together.
func reference(in []byte) (out []byte, queries []string) {
	s := latin1(in)
	var o strings.Builder
	passed := "" // since the last sequence that ended well
	for s != "" {
		seq := refSequence.FindString(s)
		if s[0] != esc || seq == "" {
			r := []rune(s)[0]
			passed += string(r)
			o.WriteRune(r)
			s = s[len(string(r)):]
			continue
		}
		s = s[len(seq):]
		clean := seq[:1] + refControls.ReplaceAllString(seq[1:], "")
		if len([]rune(seq)) > maxHeldBytes || !refQuery.MatchString(clean) {
			o.WriteString(seq)
			passed = ""
			continue
		}
		queries = append(queries, string(unlatin1(seq)))
		if i := strings.LastIndexByte(passed, esc); i >= 0 && (refCutShort.MatchString(passed[i:]) || endsInESCOfString(passed)) || refHalfChar.MatchString(passed) {
			o.WriteString(st)
		}
		passed = ""
		if clean[1] == '[' || clean[1] == 'Z' {
			for _, c := range refControls.FindAllString(seq[1:], -1) {
				if c != "\x7f" {
					o.WriteString(c)
				}
			}
		}
	}
	return unlatin1(o.String()), queries
}

// endsInESCOfString: a lone ESC is cut short by any ESC after it.
func endsInESCOfString(s string) bool { return strings.HasSuffix(s, "\x1b") }

func FuzzScanner(f *testing.F) {
	for _, s := range streams {
		f.Add([]byte(s), uint16(3), uint16(9))
	}
	for _, s := range []string{"\x1b[3\x1b[cm", "\x1b]11\x1b]11;?\a", "\xe2\x82\x1b[c", "\x1b[\n0c", "\x1b\x1b\\\x1b[c", "\x1b]4;;?\a", "\x1b]52;;?\x18\x1b[6n"} {
		f.Add([]byte(s), uint16(1), uint16(2))
	}
	f.Fuzz(func(t *testing.T, in []byte, a, b uint16) {
		i := int(a) % (len(in) + 1)
		j := i + int(b)%(len(in)-i+1)
		out, qs, s := feed(in)
		all := append(bytes.Clone(out), s.Flush()...)
		wantOut, want := reference(in)
		if !bytes.Equal(all, wantOut) || raws(qs) != fmt.Sprintf("%q", want) {
			t.Fatalf("out %q, queries %s\nwant %q, %q", all, raws(qs), wantOut, want)
		}
		o, q, s2 := feed(in, i, j)
		if o = append(o, s2.Flush()...); !bytes.Equal(o, all) || raws(q) != raws(qs) || s2.Modes() != s.Modes() || s2.Ground() != s.Ground() {
			t.Fatalf("split at %d, %d: %q %s %+v\nwant %q %s %+v", i, j, o, raws(q), s2.Modes(), all, raws(qs), s.Modes())
		}
		m := s.Modes()
		_, qs, fresh := feed(m.Restore())
		if fresh.Modes() != m || len(qs) != 0 {
			t.Fatalf("restored %+v\nwant %+v", fresh.Modes(), m)
		}
	})
}

func benchmark(b *testing.B, unit string) {
	p := []byte(strings.Repeat(unit, 1+(32<<10)/len(unit)))
	var s Scanner
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		if out, _ := s.Feed(p); len(out) != len(p) {
			b.Fatal("removed something")
		}
	}
}

func BenchmarkFeedPlainText(b *testing.B) {
	benchmark(b, "The quick brown fox jumps over the lazy dog, again and again and again.\r\n")
}
func BenchmarkFeedSpinner(b *testing.B) { benchmark(b, streams[0]) }
func BenchmarkFeedColouredText(b *testing.B) {
	benchmark(b, "\x1b[32m+\tfunc \x1b[1mmain\x1b[22m() { return nil }\x1b[39m\x1b[K\r\n")
}
func BenchmarkFeedSixel(b *testing.B) {
	benchmark(b, "\x1bPq"+strings.Repeat("#1!20~$-", 4000)+"\x1b\\")
}

func BenchmarkTail(b *testing.B) {
	p := []byte(strings.Repeat(streams[0], 1+(32<<10)/len(streams[0])))
	var t Tail
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		t.Write(p)
	}
}

func BenchmarkPaste1MB(b *testing.B) {
	p := bytes.Repeat([]byte("some [text] of a message\n"), 1<<20/25)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		Paste(p, true)
	}
}

func TestStatus(t *testing.T) {
	var s Scanner
	for _, c := range []struct{ in, want string }{
		{"x", ""}, {"\x1b]7501;state=working:app=codex\a", "state=working:app=codex"}, {"\x1b]7501;state=id", ""},
		{"le\x1b\\", "state=idle"}, {"\x1b]75;x\a\x1bc", ""}, {"\x1b]7501;a\ab\x1b]7501;c\a", "a c"},
		{strings.Repeat("\x1b]7501;x\a", 2*maxStatus) + "\x1b]7501;y\a", strings.Repeat("x ", maxStatus-1) + "y"},
	} {
		s.Feed([]byte(c.in))
		if got := strings.Join(s.Status(), " "); got != c.want {
			t.Errorf("after %q: %q, want %q", c.in, got, c.want)
		}
	}
}
