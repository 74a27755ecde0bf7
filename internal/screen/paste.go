package screen

import "bytes"

const (
	pasteOpen  = "\x1b[200~"
	pasteClose = "\x1b[201~"
)

// Paste returns the bytes that type text as one message, for a client whose
// Modes.BracketedPaste is bracketed.
//
// Bracketed, text goes between ESC[200~ and ESC[201~ byte for byte, but that
// such brackets inside it lose every ESC directly before them: they arrive as
// the visible "[201~" and cannot end the paste. Not bracketed, each LF becomes
// a CR, the Return key (so CR LF becomes two), and everything else is sent as
// it is, to a client that will take it for keys.
func Paste(text []byte, bracketed bool) []byte {
	if !bracketed {
		return bytes.ReplaceAll(text, []byte("\n"), []byte("\r"))
	}
	out := make([]byte, 0, len(pasteOpen)+len(text)+len(pasteClose))
	out = append(out, pasteOpen...)
	for {
		i := bytes.Index(text, []byte("[20"))
		if i < 0 {
			break
		}
		out = append(out, text[:i]...)
		text = text[i:]
		if bytes.HasPrefix(text, []byte(pasteOpen[1:])) || bytes.HasPrefix(text, []byte(pasteClose[1:])) {
			// All of them: what is left must not join into a bracket again.
			for out[len(out)-1] == esc {
				out = out[:len(out)-1]
			}
		}
		out = append(out, text[0])
		text = text[1:]
	}
	out = append(out, text...)
	return append(out, pasteClose...)
}
