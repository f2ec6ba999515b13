package es

import (
	"sync"
	"testing"
	"testing/synctest"
)

// However many functions run at once, few goroutines wait for more, and none after the end.
func TestWorkersWaitInSmallNumbers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkers()
		for range 2 {
			var all sync.WaitGroup
			all.Add(2 * keptWorkers)
			for range 2 * keptWorkers {
				w.run(func() {
					all.Done()
					all.Wait() // no function ends before all have begun
				})
			}
			synctest.Wait()
			if waiting := w.waiting.Load(); waiting != keptWorkers {
				t.Errorf("%d goroutines wait for work", waiting)
			}
		}
		w.drain()
		synctest.Wait()
		if waiting := w.waiting.Load(); waiting != 0 {
			t.Errorf("%d goroutines wait after the end", waiting)
		}
		done := false
		w.run(func() { done = true })
		synctest.Wait()
		if !done {
			t.Error("a function was not run")
		}
	})
}
