package es

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
	drained chan struct{} // closed when no goroutine may wait any more
	end     func()        // closes drained, once
	waiting atomic.Int64
	running sync.WaitGroup // functions, not goroutines
}

func newWorkers() *workers {
	drained := make(chan struct{})
	return &workers{next: make(chan func()), drained: drained, end: sync.OnceFunc(func() { close(drained) })}
}

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
	for ; work != nil; work = w.wait() {
		work()
		w.running.Done()
	}
}

// wait returns the next function; nil if the goroutine is not to wait for it.
func (w *workers) wait() (work func()) {
	defer w.waiting.Add(-1)
	if w.waiting.Add(1) > keptWorkers {
		return nil
	}
	select {
	case work = <-w.next:
	case <-w.drained:
	}
	return work
}

// drain returns when all functions have ended, and lets the goroutines go.
func (w *workers) drain() {
	w.running.Wait()
	w.end()
}
