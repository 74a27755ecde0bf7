package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"
)

// sample is what one contender took, turn by turn.
type sample []time.Duration

// at is the p-th percentile, nearest rank.
func (s sample) at(p float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[min(len(sorted)-1, max(0, int(math.Ceil(p/100*float64(len(sorted))))-1))]
}

// row is one contender in a table.
type row struct {
	name string
	sample
}

// table prints rows; the ratio is to the median of the row called base.
func table(title, base string, rows []row) {
	var ref time.Duration
	for _, r := range rows {
		if r.name == base {
			ref = r.at(50)
		}
	}
	fmt.Printf("\n%s (load average %s)\n  %-44s %5s %10s %10s %10s %7s\n", title, loadAverage(), "", "n", "p50", "p90", "p99", "ratio")
	for _, r := range rows {
		ratio := ""
		if ref > 0 {
			ratio = fmt.Sprintf("%.2f", float64(r.at(50))/float64(ref))
		}
		fmt.Printf("  %-44s %5d %10s %10s %10s %7s\n", r.name, len(r.sample), short(r.at(50)), short(r.at(90)), short(r.at(99)), ratio)
	}
}

// bar prints whether a bar of DESIGN §13 holds.
func bar(what string, got, limit any, holds bool) {
	word := "holds"
	if !holds {
		word = "MISSED"
	}
	fmt.Printf("  bar %-6s %s: %v, limit %v\n", word, what, got, limit)
}

// within is bar for times.
func within(what string, got, limit time.Duration) { bar(what, short(got), short(limit), got <= limit) }

// atLeast is bar for ratios.
func atLeast(what string, got, limit float64) {
	bar(what, fmt.Sprintf("%.2f", got), fmt.Sprintf("%.2f", limit), got >= limit)
}

// short is d with three digits or so.
func short(d time.Duration) string {
	switch {
	case d == 0:
		return "-"
	case d < 0:
		return "-" + short(-d)
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%dµs", d.Microseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fms", float64(d.Microseconds())/1000)
	}
	return strings.TrimSuffix(d.Round(100*time.Millisecond).String(), "0s")
}

// loadAverage is the machine's of the last minute, ourselves included.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	one, _, _ := strings.Cut(string(text), " ")
	return one
}
