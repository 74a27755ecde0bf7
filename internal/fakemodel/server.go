// Package fakemodel plays the model APIs of real agents on loopback, for tests: it
// answers without a model, by what the last message asks of it, and keeps what it was
// sent.
//
// A message with one of these words is answered so, any other by its own last line:
//
//	HOLD name      one word, and the rest when Release(name) is called
//	RUN command    a call of the agent's shell tool; RUNESC has codex ask for it
package fakemodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Turn is a part of a conversation as the model was sent it. Role is "user",
// "assistant", "tool_call" or "tool_result".
type Turn struct{ Role, Text string }

// Request is what an agent asked, in the words of all APIs.
type Request struct {
	API     string // "anthropic", "responses", "chat" or "gemini"
	Turns   []Turn
	Tools   []string
	Utility bool // it offers no tools: a title, a summary, a check
}

// Server is a model that is not there.
type Server struct {
	url  string
	done chan struct{}

	mu       sync.Mutex
	requests []Request
	held     map[string]chan struct{}
}

// Start starts a server that ends with the test.
func Start(t testing.TB) *Server {
	s := &Server{done: make(chan struct{}), held: map[string]chan struct{}{}}
	h := httptest.NewServer(s)
	s.url = h.URL
	t.Cleanup(func() {
		close(s.done)
		h.CloseClientConnections()
		h.Close()
	})
	return s
}

// URL is where it listens, without a slash at the end.
func (s *Server) URL() string { return s.url }

// Release lets the answer to HOLD name end, now or when it is asked for.
func (s *Server) Release(name string) {
	hold := s.hold(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-hold:
	default:
		close(hold)
	}
}

func (s *Server) hold(name string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[name] == nil {
		s.held[name] = make(chan struct{})
	}
	return s.held[name]
}

// LastWith is the newest request of a conversation whose last user turn has text in it.
func (s *Server) LastWith(text string) (Request, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.requests) - 1; i >= 0; i-- {
		if r := s.requests[i]; !r.Utility && strings.Contains(r.last(), text) {
			return r, true
		}
	}
	return Request{}, false
}

// last is the last user turn.
func (r Request) last() string {
	for i := len(r.Turns) - 1; i >= 0; i-- {
		if r.Turns[i].Role == "user" {
			return r.Turns[i].Text
		}
	}
	return ""
}

// reply is an answer before it is put into an API's words.
type reply struct {
	text      string
	hold      string // "": none
	command   string // of a tool call; "": none
	escalated bool
}

var (
	holds = regexp.MustCompile(`\bHOLD (\S+)`)
	runs  = regexp.MustCompile(`\b(RUN|RUNESC) (.+)`)
)

func (r Request) reply() reply {
	if n := len(r.Turns); n > 0 && r.Turns[n-1].Role == "tool_result" {
		return reply{text: "FAKE-REPLY: tool finished."}
	}
	last := r.last()
	if m := runs.FindStringSubmatch(last); m != nil && !r.Utility {
		return reply{command: strings.TrimSpace(m[2]), escalated: m[1] == "RUNESC"}
	}
	lines := strings.Split(strings.TrimSpace(last), "\n")
	out := reply{text: "FAKE-REPLY: " + lines[len(lines)-1]}
	if m := holds.FindStringSubmatch(last); m != nil && !r.Utility {
		out.hold = m[1]
	}
	return out
}

// tool is the first of names that the request offers.
func (r Request) tool(names ...string) string {
	for _, name := range names {
		for _, offered := range r.Tools {
			if name == offered {
				return name
			}
		}
	}
	return ""
}

var ids atomic.Int64

func newID(prefix string) string { return fmt.Sprintf("%s_%024d", prefix, ids.Add(1)) }

// object is a JSON object.
type object = map[string]any

// asides are what agents add to a message for the model only.
var asides = regexp.MustCompile(`(?s)<(system-reminder|environment_context|session_context|user_instructions)>.*?</(system-reminder|environment_context|session_context|user_instructions)>`)

func (s *Server) keep(r Request) Request {
	r.Utility = len(r.Tools) == 0
	for i := range r.Turns {
		r.Turns[i].Text = strings.TrimSpace(asides.ReplaceAllString(r.Turns[i].Text, ""))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	return r
}

var geminiPath = regexp.MustCompile(`/models/([^:/]+):(\w+)$`)

// ServeHTTP answers any of the APIs, by the path of the request.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	path := req.URL.Path
	body := json.NewDecoder(http.MaxBytesReader(w, req.Body, 16<<20))
	a := &answer{w: w, s: s, gone: req.Context().Done()}
	switch m := geminiPath.FindStringSubmatch(path); {
	case req.Method == http.MethodPost && strings.HasSuffix(path, "/messages/count_tokens"):
		a.document(object{"input_tokens": 10})
	case req.Method == http.MethodPost && strings.HasSuffix(path, "/messages"):
		a.serve(body, anthropic)
	case req.Method == http.MethodPost && strings.HasSuffix(path, "/responses"):
		a.serve(body, responses)
	case req.Method == http.MethodPost && strings.HasSuffix(path, "/chat/completions"):
		a.serve(body, chat)
	case m != nil && m[2] == "countTokens":
		a.document(object{"totalTokens": 10})
	case m != nil:
		a.stream = m[2] == "streamGenerateContent"
		a.serve(body, gemini)
	case strings.HasSuffix(path, "/models"):
		a.document(object{"object": "list", "data": []object{{"id": "fake-model", "object": "model", "type": "model"}}, "models": []object{}})
	case req.Method == http.MethodHead || path == "/":
	default:
		http.NotFound(w, req)
	}
}

// answer is one answer on its way.
type answer struct {
	w      http.ResponseWriter
	s      *Server
	gone   <-chan struct{} // the agent has hung up
	stream bool
}

// api answers in one API's words. It reads the request with decode.
type api func(a *answer, decode func(v any) error) error

func (a *answer) serve(body *json.Decoder, f api) {
	if err := f(a, body.Decode); err != nil {
		http.Error(a.w, err.Error(), http.StatusBadRequest)
	}
}

func (a *answer) document(v any) {
	a.w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(a.w).Encode(v) //nolint:errcheck // the agent has gone
}

// begin begins a stream of events.
func (a *answer) begin() {
	a.w.Header().Set("Content-Type", "text/event-stream")
}

// event sends one event; name may be "".
func (a *answer) event(name string, v object) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	if name != "" {
		fmt.Fprintf(a.w, "event: %s\n", name)
	}
	fmt.Fprintf(a.w, "data: %s\n\n", data)
	a.w.(http.Flusher).Flush()
}

// words sends the text of r by emit, in two parts where it is to be held.
func (a *answer) words(r reply, emit func(string)) {
	if r.hold != "" {
		emit("wait… ")
		select {
		case <-a.s.hold(r.hold):
		case <-a.gone:
		case <-a.s.done:
		}
	}
	emit(r.text)
}
