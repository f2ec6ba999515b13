package es

import (
	"fmt"
	"time"
)

// decision is the outcome of a call: a result and its events, or a rejection.
type decision[C, E any] struct {
	call   *call[C]
	events []Recorded[E]
	result Result
	err    error
}

// decide decides the calls in order, each on the state after the accepted ones before it. It stops when the next call's
// events would exceed [MaxAppend]. It returns the decisions and the state after them.
func (s *Service[S, C, E]) decide(key AggregateID, state State[S], now time.Time, calls []*call[C]) ([]decision[C, E], State[S]) {
	decided := make([]decision[C, E], 0, len(calls))
	size := 0
	for _, c := range calls {
		d := decision[C, E]{call: c}
		events, err := s.decideOne(state, c)
		if added := c.receipts() + len(events); err == nil {
			if size += added; size > MaxAppend && len(decided) > 0 {
				break
			}
			for _, event := range events {
				state = State[S]{state.Version + 1, s.aggregate.Apply(state.Value, event)}
				d.events = append(d.events, record(key, state.Version, now, c, event))
			}
			d.result = Result{Key: key, Version: state.Version, About: s.aggregate.Answer(events)}
		}
		d.err = err
		decided = append(decided, d)
	}
	return decided, state
}

// decideOne checks IfVersion and calls the decider.
func (s *Service[S, C, E]) decideOne(state State[S], c *call[C]) ([]E, error) {
	expected := c.request.IfVersion
	if expected != 0 && state.Version != 0 && expected != state.Version {
		return nil, &VersionMismatchError{Expected: expected, Current: state.Version}
	}
	events, err := s.aggregate.Decide(state.Value, c.request.Command)
	if err == nil && len(events) == 0 {
		err = fmt.Errorf("command %s was accepted without events; the decider must reject a command that changes nothing", c.request.Name)
	}
	return events, err
}

func record[C, E any](key AggregateID, seqNr uint64, now time.Time, c *call[C], event E) Recorded[E] {
	caller := c.request.Caller
	if caller.CausationID == "" {
		caller.CausationID = c.commandID // without another cause, the command is the cause of its events
	}
	return Recorded[E]{
		Envelope: Envelope{
			EventID:       newID(now),
			AggregateType: key.Type,
			AggregateID:   key.ID,
			SeqNr:         seqNr,
			OccurredAt:    now,
			CommandID:     c.commandID,
			Traceparent:   c.traceparent,
			Caller:        caller,
		},
		Event: event,
	}
}
