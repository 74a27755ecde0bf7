package cli

import "strings"

// nearest is the candidate that word most likely meant, or "" when none is
// near: at most one slip in a short word, two in a longer one, else the first
// that word begins.
func nearest(word string, candidates []string) string {
	best, limit := "", 2
	if len(word) <= 3 {
		limit = 1
	}
	for _, c := range candidates {
		if len(c) < 2 { // any one letter is near any other
			continue
		}
		if d := slips(word, c); d <= limit {
			best, limit = c, d-1
		}
	}
	for _, c := range candidates {
		if best == "" && len(word) >= 2 && strings.HasPrefix(c, word) {
			best = c
		}
	}
	return best
}

// slips counts the letters to insert, drop, change or swap with their
// neighbour to make b of a (optimal string alignment).
func slips(a, b string) int {
	var before, last []int
	for j := range len(b) + 1 {
		last = append(last, j)
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(last[j]+1, row[j-1]+1, change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
