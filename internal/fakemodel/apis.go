package fakemodel

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// texts is the text of a content that is a string, or a list of parts with one each.
func texts(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	json.Unmarshal(raw, &parts) //nolint:errcheck // another content has no text
	var out []string
	for _, p := range parts {
		if p.Text != "" {
			out = append(out, p.Text)
		}
	}
	return strings.Join(out, "\n")
}

func anthropic(a *answer, decode func(v any) error) error {
	var b struct {
		Model    string
		Stream   bool
		Tools    []struct{ Name string }
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := decode(&b); err != nil {
		return err
	}
	req := Request{API: "anthropic"}
	for _, t := range b.Tools {
		req.Tools = append(req.Tools, t.Name)
	}
	for _, m := range b.Messages {
		var parts []struct{ Type string }
		json.Unmarshal(m.Content, &parts) //nolint:errcheck // a string has none
		role := m.Role
		for _, p := range parts {
			switch p.Type {
			case "tool_use":
				role = "tool_call"
			case "tool_result":
				role = "tool_result"
			}
		}
		req.Turns = append(req.Turns, Turn{role, texts(m.Content)})
	}
	req = a.s.keep(req)
	r := req.reply()
	id, usage := newID("msg"), object{"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
	block, stop := object{"type": "text", "text": ""}, "end_turn"
	if r.command != "" {
		block, stop = object{"type": "tool_use", "id": newID("toolu"), "name": "Bash", "input": object{}}, "tool_use"
	}
	input := object{"command": r.command, "description": "as asked"}
	if !b.Stream {
		if r.command != "" {
			block["input"] = input
		} else {
			block["text"] = r.text
		}
		a.document(object{"id": id, "type": "message", "role": "assistant", "model": b.Model, "content": []object{block}, "stop_reason": stop, "stop_sequence": nil, "usage": usage})
		return nil
	}
	a.begin()
	event := func(kind string, v object) {
		v["type"] = kind
		a.event(kind, v)
	}
	event("message_start", object{"message": object{"id": id, "type": "message", "role": "assistant", "model": b.Model, "content": []object{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage}})
	event("content_block_start", object{"index": 0, "content_block": block})
	if r.command != "" {
		event("content_block_delta", object{"index": 0, "delta": object{"type": "input_json_delta", "partial_json": encoded(input)}})
	} else {
		a.words(r, func(w string) {
			event("content_block_delta", object{"index": 0, "delta": object{"type": "text_delta", "text": w}})
		})
	}
	event("content_block_stop", object{"index": 0})
	event("message_delta", object{"delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": 5}})
	event("message_stop", object{})
	return nil
}

func encoded(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func responses(a *answer, decode func(v any) error) error {
	var b struct {
		Model  string
		Stream bool
		Tools  []struct{ Name, Type string }
		Input  []struct {
			Type, Role string
			Content    json.RawMessage
		}
	}
	if err := decode(&b); err != nil {
		return err
	}
	req := Request{API: "responses"}
	for _, t := range b.Tools {
		req.Tools = append(req.Tools, t.Name)
	}
	for _, m := range b.Input {
		switch {
		case strings.HasSuffix(m.Type, "_output"):
			req.Turns = append(req.Turns, Turn{"tool_result", ""})
		case strings.HasSuffix(m.Type, "_call"):
			req.Turns = append(req.Turns, Turn{"tool_call", ""})
		case m.Role == "user" || m.Role == "assistant":
			req.Turns = append(req.Turns, Turn{m.Role, texts(m.Content)})
		}
	}
	req = a.s.keep(req)
	r := req.reply()
	item := object{"id": newID("msg"), "type": "message", "role": "assistant", "status": "completed",
		"content": []object{{"type": "output_text", "text": r.text, "annotations": []object{}}}}
	if r.command != "" {
		args := object{"cmd": r.command}
		name := req.tool("exec_command", "shell_command", "shell")
		switch {
		case name == "shell_command":
			args = object{"command": r.command}
		case name == "shell":
			args = object{"command": []string{"bash", "-lc", r.command}}
		case r.escalated:
			args["sandbox_permissions"], args["justification"] = "require_escalated", "as asked"
		}
		item = object{"id": newID("fc"), "call_id": newID("call"), "type": "function_call", "status": "completed", "name": name, "arguments": encoded(args)}
	}
	base := func(status string, output ...object) object {
		usage := object{"input_tokens": 10, "input_tokens_details": object{"cached_tokens": 0}, "output_tokens": 5, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 15}
		return object{"id": "resp_1", "object": "response", "created_at": time.Now().Unix(), "status": status, "model": b.Model, "output": slices.Clone(output), "usage": usage, "error": nil, "tools": []object{}}
	}
	if !b.Stream {
		a.document(base("completed", item))
		return nil
	}
	a.begin()
	seq := 0
	event := func(kind string, v object) {
		v["type"], v["sequence_number"] = kind, seq
		seq++
		a.event(kind, v)
	}
	event("response.created", object{"response": base("in_progress")})
	event("response.output_item.added", object{"output_index": 0, "item": item})
	if r.command == "" {
		a.words(r, func(w string) {
			event("response.output_text.delta", object{"item_id": item["id"], "output_index": 0, "content_index": 0, "delta": w})
		})
	}
	event("response.output_item.done", object{"output_index": 0, "item": item})
	event("response.completed", object{"response": base("completed", item)})
	return nil
}

func chat(a *answer, decode func(v any) error) error {
	var b struct {
		Model    string
		Stream   bool
		Tools    []struct{ Function struct{ Name string } }
		Messages []struct {
			Role      string
			Content   json.RawMessage
			ToolCalls []object `json:"tool_calls"`
		}
	}
	if err := decode(&b); err != nil {
		return err
	}
	req := Request{API: "chat"}
	for _, t := range b.Tools {
		req.Tools = append(req.Tools, t.Function.Name)
	}
	for _, m := range b.Messages {
		switch {
		case m.Role == "tool":
			req.Turns = append(req.Turns, Turn{"tool_result", texts(m.Content)})
		case len(m.ToolCalls) > 0:
			req.Turns = append(req.Turns, Turn{"tool_call", ""})
		case m.Role == "user" || m.Role == "assistant":
			req.Turns = append(req.Turns, Turn{m.Role, texts(m.Content)})
		}
	}
	req = a.s.keep(req)
	r := req.reply()
	id, usage, finish := newID("chatcmpl"), object{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}, "stop"
	message := object{"role": "assistant", "content": r.text}
	if r.command != "" {
		finish = "tool_calls"
		call := object{"index": 0, "id": newID("call"), "type": "function", "function": object{
			"name": req.tool("bash", "Bash", "run_shell_command", "shell"), "arguments": encoded(object{"command": r.command, "description": "as asked", "is_background": false})}}
		message = object{"role": "assistant", "content": nil, "tool_calls": []object{call}}
	}
	if !b.Stream {
		a.document(object{"id": id, "object": "chat.completion", "created": time.Now().Unix(), "model": b.Model, "choices": []object{{"index": 0, "finish_reason": finish, "message": message}}, "usage": usage})
		return nil
	}
	a.begin()
	event := func(delta object, finish any, usage any) {
		choices := []object{}
		if delta != nil {
			choices = append(choices, object{"index": 0, "delta": delta, "finish_reason": finish})
		}
		a.event("", object{"id": id, "object": "chat.completion.chunk", "created": time.Now().Unix(), "model": b.Model, "choices": choices, "usage": usage})
	}
	if r.command != "" {
		event(message, nil, nil)
	} else {
		a.words(r, func(w string) { event(object{"role": "assistant", "content": w}, nil, nil) })
	}
	event(object{}, finish, nil)
	event(nil, nil, usage)
	a.w.Write([]byte("data: [DONE]\n\n")) //nolint:errcheck // the agent has gone
	return nil
}

func gemini(a *answer, decode func(v any) error) error {
	var b struct {
		Contents []struct {
			Role  string
			Parts []struct {
				Text             string
				FunctionCall     object
				FunctionResponse object
			}
		}
		Tools []struct {
			FunctionDeclarations []struct{ Name string }
		}
		GenerationConfig struct {
			ResponseJSONSchema *schema `json:"responseJsonSchema"`
			ResponseSchema     *schema `json:"responseSchema"`
		}
	}
	if err := decode(&b); err != nil {
		return err
	}
	req := Request{API: "gemini"}
	for _, t := range b.Tools {
		for _, f := range t.FunctionDeclarations {
			req.Tools = append(req.Tools, f.Name)
		}
	}
	for _, c := range b.Contents {
		for _, p := range c.Parts {
			role := c.Role
			switch {
			case p.FunctionResponse != nil:
				role = "tool_result"
			case p.FunctionCall != nil:
				role = "tool_call"
			case role == "model":
				role = "assistant"
			}
			req.Turns = append(req.Turns, Turn{role, p.Text})
		}
	}
	req = a.s.keep(req)
	r := req.reply()
	for _, s := range []*schema{b.GenerationConfig.ResponseJSONSchema, b.GenerationConfig.ResponseSchema} {
		if s != nil { // a check of its own wants an object
			r = reply{text: encoded(s.example())}
		}
	}
	candidate := func(part object) object {
		return object{
			"candidates":    []object{{"index": 0, "content": object{"role": "model", "parts": []object{part}}, "finishReason": "STOP"}},
			"usageMetadata": object{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}, "responseId": newID("r"),
		}
	}
	part := object{"text": r.text}
	if r.command != "" {
		part = object{"functionCall": object{"name": req.tool("run_shell_command"), "args": object{"command": r.command, "description": "as asked"}}}
	}
	if !a.stream {
		a.document(candidate(part))
		return nil
	}
	a.begin()
	if r.command != "" {
		a.event("", candidate(part))
		return nil
	}
	a.words(r, func(w string) {
		c := candidate(object{"text": w})
		if w != r.text {
			delete(c["candidates"].([]object)[0], "finishReason")
		}
		a.event("", c)
	})
	return nil
}

// schema is as much of a JSON schema as an example needs.
type schema struct {
	Type       string            `json:"type"`
	Enum       []string          `json:"enum"`
	Properties map[string]schema `json:"properties"`
}

func (s schema) example() any {
	switch {
	case len(s.Enum) > 0:
		return s.Enum[len(s.Enum)-1]
	case len(s.Properties) > 0:
		out := object{}
		for name, p := range s.Properties {
			out[name] = p.example()
		}
		return out
	case strings.EqualFold(s.Type, "number"), strings.EqualFold(s.Type, "integer"):
		return 1
	case strings.EqualFold(s.Type, "boolean"):
		return false
	case strings.EqualFold(s.Type, "array"):
		return []string{}
	case strings.EqualFold(s.Type, "object"):
		return object{}
	}
	return "fake"
}
