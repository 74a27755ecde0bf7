package provider

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Values is what the placeholders of a template stand for: {prompt}, {native_id},
// {model}, {cwd} and {run_dir}. A literal brace is written twice.
//
// Only a prompt and a model may be missing: an argument that mentions one which is
// empty is left out whole, and if it is {model} alone, the flag before it goes too.
// Any other placeholder without a value is an error.
type Values struct {
	Prompt   string
	NativeID string
	Model    string
	Cwd      string // absolute
	RunDir   string // absolute
	PID      string // of the client, in a Registry
}

// The placeholders each kind of template may use.
var (
	argvNames    = []string{"prompt", "native_id", "model", "cwd", "run_dir"}
	historyNames = []string{"native_id", "native_id8", "model", "cwd", "run_dir", "pid", "env:NAME"}
	fileNames    = []string{"model", "cwd", "run_dir"}
)

// part is a piece of a parsed template: literal text, or a placeholder's name.
type part struct {
	text  string
	named bool
}

// parse splits a template, accepting only the placeholders in names; "env:NAME"
// among them accepts any variable.
func parse(tmpl string, names []string) ([]part, error) {
	var parts []part
	var literal strings.Builder
	for i := 0; i < len(tmpl); i++ {
		c := tmpl[i]
		if c != '{' && c != '}' {
			literal.WriteByte(c)
			continue
		}
		if i+1 < len(tmpl) && tmpl[i+1] == c {
			literal.WriteByte(c)
			i++
			continue
		}
		if c == '}' {
			return nil, fmt.Errorf("a } without its {; write }} for the character itself")
		}
		name, _, closed := strings.Cut(tmpl[i+1:], "}")
		if !closed {
			return nil, fmt.Errorf("a { without its }; write {{ for the character itself")
		}
		if !allowed(name, names) {
			return nil, fmt.Errorf("unknown placeholder {%s}; use {%s}, or write {{ for the character itself",
				name, strings.Join(names, "} {"))
		}
		if literal.Len() > 0 {
			parts = append(parts, part{text: literal.String()})
			literal.Reset()
		}
		parts = append(parts, part{text: name, named: true})
		i += len(name) + 1
	}
	if literal.Len() > 0 {
		parts = append(parts, part{text: literal.String()})
	}
	return parts, nil
}

func allowed(name string, names []string) bool {
	if v, ok := strings.CutPrefix(name, "env:"); ok {
		v, _, _ = strings.Cut(v, "|")
		return slices.Contains(names, "env:NAME") && envName.MatchString(v)
	}
	return slices.Contains(names, name)
}

// mentions reports whether a valid template uses the placeholder name.
func mentions(tmpl, name string) bool {
	parts, _ := parse(tmpl, argvNames)
	return slices.Contains(parts, part{text: name, named: true})
}

// missingError says that a placeholder has no value.
type missingError struct{ name string }

func (e *missingError) Error() string { return "there is no value for {" + e.name + "}" }

func (e *missingError) optional() bool { return e.name == "prompt" || e.name == "model" }

func (v Values) get(name string) string {
	switch name {
	case "prompt":
		return v.Prompt
	case "native_id":
		return v.NativeID
	case "model":
		return v.Model
	case "cwd":
		return v.Cwd
	case "run_dir":
		return v.RunDir
	case "native_id8": // its first eight characters
		return v.NativeID[:min(8, len(v.NativeID))]
	case "pid":
		return v.PID
	}
	return ""
}

// expand fills in a template. The first empty placeholder is a *missingError.
func expand(tmpl string, names []string, get func(string) string) (string, error) {
	parts, err := parse(tmpl, names)
	if err != nil {
		return "", fmt.Errorf("%q: %w", tmpl, err)
	}
	var b strings.Builder
	for _, p := range parts {
		s := p.text
		if p.named {
			if s = get(p.text); s == "" {
				return "", &missingError{p.text}
			}
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

func expandArgv(tmpl []string, v Values) ([]string, error) {
	if err := checkID(v.NativeID); err != nil {
		return nil, err
	}
	argv := make([]string, 0, len(tmpl))
	for i, t := range tmpl {
		arg, err := expand(t, argvNames, v.get)
		var missing *missingError
		if errors.As(err, &missing) && missing.optional() && i > 0 {
			if t == "{model}" && i > 1 && isFlag(tmpl[i-1]) {
				argv = argv[:len(argv)-1]
			}
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("cannot make the command: %w", err)
		}
		if strings.ContainsRune(arg, 0) {
			return nil, fmt.Errorf("cannot make the command: argument %d has a NUL byte", i)
		}
		argv = append(argv, arg)
	}
	if len(argv) == 0 || argv[0] == "" {
		return nil, errors.New("cannot make the command: it is empty")
	}
	return argv, nil
}

// isFlag reports whether a template is a flag whose value is the next argument: it
// has no placeholder of its own, so it is never left out by itself.
func isFlag(t string) bool {
	return strings.HasPrefix(t, "-") && strings.Trim(t, "-") != "" && !strings.ContainsAny(t, "={}")
}

// checkID refuses ids that a program could take for a flag. They come from the
// agent, which may have them from anywhere.
func checkID(id string) error {
	if strings.HasPrefix(id, "-") || strings.ContainsFunc(id, unicode.IsControl) {
		return fmt.Errorf("native id %q is not one: it begins with - or has control characters", id)
	}
	return nil
}

func expandPath(tmpl string, v Values, getenv func(string) string) (string, error) {
	if strings.ContainsAny(v.NativeID, "/\x00") || v.NativeID == ".." {
		return "", fmt.Errorf("native id %q cannot be part of a path", v.NativeID)
	}
	if rest, ok := strings.CutPrefix(tmpl, "~/"); ok {
		tmpl = "{env:HOME}/" + rest
	}
	home := func(path string) string {
		if rest, ok := strings.CutPrefix(path, "~"); ok {
			return getenv("HOME") + rest
		}
		return path
	}
	path, err := expand(tmpl, historyNames, func(name string) string {
		value := v.get(name)
		if env, ok := strings.CutPrefix(name, "env:"); ok {
			env, unset, _ := strings.Cut(env, "|")
			value = cmp.Or(getenv(env), home(unset))
		}
		if strings.Contains(tmpl, "*") {
			value = notPattern.Replace(value)
		}
		return value
	})
	if err != nil {
		return "", fmt.Errorf("cannot make the path %s: %w", tmpl, err)
	}
	return absolute(v.Cwd, path), nil
}

// notPattern has text stand for itself in a pattern of filepath.Glob.
var notPattern = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)
