// Package manifest is the run directory: the layout, the formats, and who may write
// what in it. A run directory holds evidence; each file is written by the process
// that saw the fact, whole and by rename, and read by anyone at any time.
//
//	manifest.json                   what was started; written once, when the run is published
//	prepared|launching|supervised   the launch marker: which step a launch has reached (marker.go)
//	native.json                     the provider's id of the conversation (native.go)
//	supervisor.json                 who supervises, in what phase, with which hosts (supervisor.go)
//	wanted.json  requests/          what commands ask of the supervisor (request.go)
//	inbox/                          what the agent announces (announce.go)
//	clients/                        receipts and ends, by package clients
//	events.jsonl                    what happened, one JSON document a line (event.go)
//	prompt-sent                     the opening request went out: never send it again
//	last-screen.txt                 what was on the screen when a client failed, or ended at once
//
// The package starts no process and takes no decision. docs/formats.md has the
// field tables.
package manifest
