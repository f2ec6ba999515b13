package command

import (
	"fmt"
	"time"

	"example.com/threads/usecase"
)

// decision is what became of a call: a result and its events, or a rejection.
type decision[C, E any] struct {
	call   *call[C]
	events []usecase.Recorded[E]
	result Result
	err    error
}

// decide judges the calls one after the other, each on what those before it lead to, as far as their events fit in one
// write. It returns the state that the decisions lead to.
func (s *Service[S, C, E]) decide(key usecase.Key, state State[S], now time.Time, calls []*call[C]) ([]decision[C, E], State[S]) {
	decided := make([]decision[C, E], 0, len(calls))
	size := 0
	for _, c := range calls {
		d := decision[C, E]{call: c}
		events, err := s.judge(state, c)
		if added := c.receipts() + len(events); err == nil {
			if size += added; size > MaxWrite && len(decided) > 0 {
				break
			}
			for _, event := range events {
				state = State[S]{state.Version + 1, s.decider.Apply(state.Value, event)}
				d.events = append(d.events, record(key, state.Version, now, c, event))
			}
			d.result = Result{Key: key, Version: state.Version, About: s.decider.Answer(events)}
		}
		d.err = err
		decided = append(decided, d)
	}
	return decided, state
}

func (s *Service[S, C, E]) judge(state State[S], c *call[C]) ([]E, error) {
	wanted := c.request.IfVersion
	if wanted != 0 && state.Version != 0 && wanted != state.Version {
		return nil, &usecase.VersionMismatchError{Expected: wanted, Current: state.Version}
	}
	events, err := s.decider.Decide(state.Value, c.request.Command)
	if err == nil && len(events) == 0 {
		err = fmt.Errorf("command %s was accepted and nothing followed; a command that changes nothing must be rejected", c.request.Name)
	}
	return events, err
}

func record[C, E any](key usecase.Key, seqNr uint64, now time.Time, c *call[C], event E) usecase.Recorded[E] {
	caller := c.request.Caller
	if caller.CausationID == "" {
		caller.CausationID = c.commandID // nothing but the command itself caused its events
	}
	return usecase.Recorded[E]{
		Envelope: usecase.Envelope{
			EventID:       newID(now),
			AggregateType: key.Type,
			AggregateID:   key.ID,
			SeqNr:         seqNr,
			OccurredAt:    now,
			CommandID:     c.commandID,
			Caller:        caller,
		},
		Event: event,
	}
}

// The times that a working clock can show. Before the first this program did not exist; after the last, times have no
// place in the events' format. What lies between is not judged by the aggregate's last event: a process whose clock once ran
// ahead would keep all the others from the aggregate.
var (
	earliest = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
)

// now is the time of the events that are decided. A clock that can't be right is the fault of this process: others may do
// better.
func (s *Service[S, C, E]) now() (time.Time, error) {
	now := s.settings.Clock().UTC().Truncate(time.Microsecond)
	if now.Before(earliest) || now.After(latest) {
		return now, clockError{now}
	}
	return now, nil
}

// clockError says that no event can be given a time.
type clockError struct{ now time.Time }

func (e clockError) Error() string {
	return "this computer's clock says " + e.now.Format(time.RFC3339) + ": set it right"
}

// Class is that of a store that can't be reached: the same request may succeed elsewhere, or later.
func (clockError) Class() string { return "unavailable" }
