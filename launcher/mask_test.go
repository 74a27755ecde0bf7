package launcher

import (
	"strings"
	"testing"
)

func TestMaskHidesSecrets(t *testing.T) {
	const token = "sk-live-0123456789abcdefghij"
	long := strings.Repeat("a sentence of the opening request, ", 10)
	for _, c := range []struct {
		name, opening string
		env           []string
		text, want    string
	}{
		{"value of a variable", "", []string{"KEY=" + token}, "key is " + token + "!", "key is [masked]!"},
		{"twice on a line", "", []string{"KEY=" + token}, token + " " + token, "[masked]"},
		{"value wrapped by the terminal", "", []string{"KEY=" + token}, "key is " + token[:9] + "\n" + token[9:] + " end", "key is [masked] end"},
		{"value in a frame", "", []string{"KEY=" + token}, "│ " + token[:9] + " │\n│ " + token[9:] + " │", "│ [masked] │"},
		{"the end of a value", "", []string{"KEY=" + token}, "..." + token[9:], "...[masked]"},
		{"value that holds another one", "", []string{"A=password", "B=password-and-more"}, "password-and-more", "[masked]"},
		{"short value stays", "", []string{"DEBUG=1", "EDITOR=vi"}, "1 vi", "1 vi"},
		{"path only whole", "", []string{"VENV=/home/me/project/.venv"}, "/home/me/project/main.go /home/me/project/.venv", "/home/me/project/main.go [masked]"},
		{"plain variables stay", "", []string{"HOME=/home/someone", "PATH=/usr/local/bin", "LC_ALL=C.UTF-8@euro"}, "/home/someone /usr/local/bin C.UTF-8@euro", "/home/someone /usr/local/bin C.UTF-8@euro"},
		{"request, by line", "first line of it\nsecond line of it", nil, "> first line of it", "> [masked]"},
		{"request, in part", long, nil, "…" + long[20:90], "…[masked]"},
		{"token of the request alone", "please use pass1234 for it", nil, "using pass1234 now", "using [masked] now"},
		{"word of the request stays", "fix the directory", nil, "no such directory", "no such directory"},
		{"bytes that are no text", "", []string{"KEY=\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8"}, "x\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8y", "x[masked]y"},
		{"nothing to hide", "", nil, "panic: it failed\n\tat line 1\n", "panic: it failed\n\tat line 1\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Mask(c.text, Spec{Opening: []byte(c.opening), Client: Command{Env: c.env}}); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// Whatever the text around it and however it is broken, a secret of random letters
// does not come through.
func FuzzMask(f *testing.F) {
	f.Add("before ", " after", "sk-0123456789", 5)
	f.Add("", "", "eight888", 0)
	f.Add("┃", "\xff", "\xff\xff\xff\xff\xff\xff\xff\xff\xff", 3)
	f.Fuzz(func(t *testing.T, before, after, secret string, cut int) {
		v, _ := visible([]byte(secret))
		if len(v) < minSecret || strings.ContainsRune(secret, 0) {
			return
		}
		cut = min(max(cut, 0), len(v))
		text := before + string(v[:cut]) + "\n" + string(v[cut:]) + after
		got := Mask(text, Spec{Client: Command{Env: []string{"SECRET=" + string(v)}}})
		rest, _ := visible([]byte(strings.ReplaceAll(got, masked, "\x00")))
		if strings.Contains(string(rest), string(v)) && !strings.Contains(masked, string(v)) {
			t.Errorf("%q is in %q", v, got)
		}
	})
}
