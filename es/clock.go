package es

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// The range of times that a working clock can show. The first lies before this program existed; the last is the end of
// what the events' time format can hold. Times are not compared with the aggregate's last event: one process with a
// fast clock would lock all others out of the aggregate.
var (
	earliest = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
)

// now returns the time of the events to decide, or an error if this process's clock is wrong; another process may
// succeed.
func (s *Service[S, C, E]) now(ctx context.Context) (time.Time, error) {
	now := s.settings.Clock().UTC().Truncate(time.Microsecond)
	err := s.settings.CheckClock(ctx)
	if now.Before(earliest) || now.After(latest) {
		err = fmt.Errorf("this computer's clock says %s; set the clock", now.Format(time.RFC3339))
	}
	if err != nil {
		err = clockError{err}
	}
	return now, err
}

// clockError: the clock is wrong, so events cannot be given a time.
type clockError struct{ error }

// Class is that of an unreachable store: the same request may succeed on another process, or later.
func (clockError) Class() string { return "unavailable" }

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
		ctx, cancel := context.WithTimeout(ctx, compareTimeout)
		defer cancel()
		if other, err := w.Other(ctx); err == nil {
			w.ahead = w.Clock().Sub(other)
		}
		w.compared = time.Now()
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

// Wait waits for the duration. If ctx ends first, it returns ctx's cause at once.
func Wait(ctx context.Context, duration time.Duration) error {
	select {
	case <-time.After(duration):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Backoff returns the pause after a failure that followed on so many others: first, doubled by each of those, at most
// longest. Up to half of it is taken off at random, so that those who failed together do not retry together. It is for
// retries that are scheduled from a stored number of failures; loops use package backoff.
func Backoff(first, longest time.Duration, failures int) time.Duration {
	pause := min(first<<min(failures, 10), longest)
	return pause - rand.N(pause/2)
}
