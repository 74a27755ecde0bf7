package cli

import (
	"fmt"
	"time"
)

// ago is how long before now t was, for people: "12s", "3m", "2h", "5d". A time
// that has not come yet is "0s", the zero time is "".
func ago(now, t time.Time) string {
	d := max(0, now.Sub(t))
	switch {
	case t.IsZero():
		return ""
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}
