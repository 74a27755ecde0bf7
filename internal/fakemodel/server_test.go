package fakemodel

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// Each API is answered in its own words, and what it was sent is kept in common ones.
func TestEachAPI(t *testing.T) {
	for _, c := range []struct{ api, path, body, tool string }{
		{"anthropic", "/v1/messages", `{"stream":true,"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"<system-reminder>x</system-reminder>first"},{"role":"assistant","content":[{"type":"text","text":"so"}]},{"role":"user","content":[{"type":"text","text":"WHAT"}]}]}`, "Bash"},
		{"responses", "/v1/responses", `{"stream":true,"tools":[{"name":"exec_command"}],"input":[{"role":"user","content":[{"type":"input_text","text":"first"}]},{"role":"assistant","content":[{"text":"so"}]},{"role":"user","content":[{"text":"WHAT"}]}]}`, "exec_command"},
		{"chat", "/v1/chat/completions", `{"stream":true,"tools":[{"function":{"name":"bash"}}],"messages":[{"role":"user","content":"first"},{"role":"assistant","content":"so"},{"role":"user","content":"WHAT"}]}`, "bash"},
		{"gemini", "/v1beta/models/g:streamGenerateContent", `{"tools":[{"functionDeclarations":[{"name":"run_shell_command"}]}],"contents":[{"role":"user","parts":[{"text":"first"}]},{"role":"model","parts":[{"text":"so"}]},{"role":"user","parts":[{"text":"WHAT"}]}]}`, "run_shell_command"},
	} {
		t.Run(c.api, func(t *testing.T) {
			s := Start(t)
			ask := func(what string) string {
				resp, err := http.Post(s.URL()+c.path, "application/json", strings.NewReader(strings.Replace(c.body, "WHAT", what, 1)))
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				b, err := io.ReadAll(resp.Body)
				if err != nil || resp.StatusCode != http.StatusOK {
					t.Fatalf("%v, %v: %s", resp.Status, err, b)
				}
				return string(b)
			}
			if got := ask("hello there"); !strings.Contains(got, "FAKE-REPLY: hello there") {
				t.Errorf("answered %s", got)
			}
			if got := ask("RUN ls -l"); !strings.Contains(got, c.tool) || !strings.Contains(got, "ls -l") {
				t.Errorf("called %s", got)
			}
			s.Release("it")
			if got := ask("HOLD it"); !strings.Contains(got, "FAKE-REPLY: HOLD it") {
				t.Errorf("held %s", got)
			}
			req, ok := s.LastWith("hello there")
			if !ok || req.API != c.api || req.Utility || len(req.Turns) != 3 || req.Turns[0] != (Turn{"user", "first"}) || req.Turns[1] != (Turn{"assistant", "so"}) {
				t.Errorf("kept %+v", req)
			}
		})
	}
}

// An answer that is held ends when its agent hangs up, and with the test.
func TestHeldIsNotForEver(t *testing.T) {
	s := Start(t)
	resp, err := http.Post(s.URL()+"/v1/messages", "application/json", strings.NewReader(`{"stream":true,"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"HOLD it"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}
