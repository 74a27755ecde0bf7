package cli

import (
	"errors"
	"sync"
)

// atOnce is how many sessions a verb works on at a time: enough to keep a small
// machine busy, few enough that each is done within its own bounds.
const atOnce = 8

// forEach calls f for 0 to n-1, atOnce at a time, and returns when all are done.
func forEach(n int, f func(i int)) {
	var wg sync.WaitGroup
	room := make(chan struct{}, atOnce)
	for i := range n {
		room <- struct{}{}
		wg.Go(func() {
			f(i)
			<-room
		})
	}
	wg.Wait()
}

// worst joins the errors that are any, so that the first decides class and hint.
func worst(errs []error) error {
	var some []error
	for _, err := range errs {
		if err != nil {
			some = append(some, err)
		}
	}
	if len(some) == 1 {
		return some[0]
	}
	return errors.Join(some...)
}
