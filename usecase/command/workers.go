package command

import (
	"sync"
	"sync/atomic"
)

// keptWorkers is how many goroutines may wait for work. A waiting one holds some KiB of stack.
const keptWorkers = 256

// workers runs functions on goroutines that it keeps: to grow the stack of a new one takes longer than to decide a
// command.
type workers struct {
	next    chan func()
	waiting atomic.Int64
	running sync.WaitGroup // functions, not goroutines
}

func newWorkers() *workers { return &workers{next: make(chan func())} }

// run has the function run by a waiting goroutine, or by a new one.
func (w *workers) run(work func()) {
	w.running.Add(1)
	select {
	case w.next <- work:
	default:
		go w.serve(work)
	}
}

func (w *workers) serve(work func()) {
	for ok := true; ok; {
		work()
		w.running.Done()
		if w.waiting.Add(1) <= keptWorkers {
			work, ok = <-w.next
		} else {
			ok = false
		}
		w.waiting.Add(-1)
	}
}

// drain returns when all functions have ended, and ends the goroutines. run must not be called after it.
func (w *workers) drain() {
	w.running.Wait()
	close(w.next)
}
