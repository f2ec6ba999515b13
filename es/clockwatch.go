package es

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	compareEvery   = 15 * time.Second
	compareTimeout = time.Second
)

// ClockWatch compares this computer's clock with the event store's, which all writers share: its Check is for
// [Settings]. It is safe for concurrent use.
type ClockWatch struct {
	Clock     func() time.Time                         // this computer's
	Other     func(context.Context) (time.Time, error) // reads the one to compare with
	Tolerance time.Duration                            // the maximum accepted difference

	mutex    sync.Mutex
	compared time.Time     // when Other was last called, even if it failed
	ahead    time.Duration // how far Clock was ahead when Other last answered
}

// Check returns an error while the clocks differ by more than the tolerance. It compares them if the last comparison is
// more than 15 s old. While the other clock can't be read, the last comparison counts; without any, there is no error.
func (w *ClockWatch) Check(ctx context.Context) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.compared.IsZero() || time.Since(w.compared) >= compareEvery {
		w.compare(ctx)
	}
	if w.ahead.Abs() <= w.Tolerance {
		return nil
	}
	relation := "ahead of"
	if w.ahead < 0 {
		relation = "behind"
	}
	return fmt.Errorf("this computer's clock is %s %s the event store's, and at most %s is accepted; correct the clock that is wrong",
		w.ahead.Abs().Round(time.Second), relation, w.Tolerance)
}

// Ahead returns how far the clock was ahead of the other one at the last comparison; negative: behind.
func (w *ClockWatch) Ahead() time.Duration {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.ahead
}

func (w *ClockWatch) compare(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, compareTimeout)
	defer cancel()
	if other, err := w.Other(ctx); err == nil {
		w.ahead = w.Clock().Sub(other)
	}
	w.compared = time.Now()
}
