package es

import (
	"context"
	"fmt"
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
	if now.Before(earliest) || now.After(latest) {
		return now, clockError{fmt.Errorf("this computer's clock says %s; set the clock", now.Format(time.RFC3339))}
	}
	if err := s.settings.CheckClock(ctx); err != nil {
		return now, clockError{err}
	}
	return now, nil
}

// clockError: the clock is wrong, so events cannot be given a time.
type clockError struct{ error }

func (e clockError) Unwrap() error { return e.error }

// Class is that of an unreachable store: the same request may succeed on another process, or later.
func (clockError) Class() string { return "unavailable" }
