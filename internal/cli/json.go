package cli

import (
	"encoding/json"
	"fmt"
	"io"
)

// printJSON prints v as one document: two spaces of indent, a newline at the
// end, and <, > and & as they are. A list must be an empty slice and not nil,
// which would be null.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("cannot print the JSON document: %w", err)
	}
	return nil
}
