package estest

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"example.com/threads/es"
)

// Given begins a test of an aggregate's rules: the aggregate has these events. Neither a store nor a codec is needed.
//
//	estest.Given(counters, Added{3}).When(Add{-5}).Rejects(t, "below_zero")
func Given[S, C, E any](aggregate es.Aggregate[S, C, E], events ...E) Scenario[S, C, E] {
	s := Scenario[S, C, E]{aggregate: aggregate}
	for _, event := range events {
		s.state = aggregate.Apply(s.state, event)
	}
	return s
}

// Scenario is an aggregate with some events.
type Scenario[S, C, E any] struct {
	aggregate es.Aggregate[S, C, E]
	state     S
}

// When decides a command on the state after the events.
func (s Scenario[S, C, E]) When(command C) Decided[E] {
	events, err := s.aggregate.Decide(s.state, command)
	return Decided[E]{fmt.Sprintf("%T%+v", command, command), events, err}
}

// Decided is the outcome of a command.
type Decided[E any] struct {
	command string
	events  []E
	err     error
}

// Then fails the test unless the command was accepted with exactly these events.
func (d Decided[E]) Then(t testing.TB, want ...E) {
	t.Helper()
	if d.err != nil {
		t.Errorf("%s is rejected: %v\nwant %+v", d.command, d.err, want)
	} else if len(d.events)+len(want) > 0 && !reflect.DeepEqual(d.events, want) {
		t.Errorf("%s leads to %+v\nwant %+v", d.command, d.events, want)
	}
}

// Rejects fails the test unless the command was rejected with want: an error to find with [errors.Is], or the text of
// the error's Code or Class method.
func (d Decided[E]) Rejects(t testing.TB, want any) {
	t.Helper()
	if d.err == nil {
		t.Errorf("%s is accepted with %+v\nwant the rejection %v", d.command, d.events, want)
	} else if !rejectedWith(d.err, want) {
		t.Errorf("%s is rejected with %q\nwant the rejection %v", d.command, d.err, want)
	}
}

func rejectedWith(err error, want any) bool {
	if target, is := want.(error); is {
		return errors.Is(err, target)
	}
	var coded interface{ Code() string }
	var classified interface{ Class() string }
	return errors.As(err, &coded) && coded.Code() == want || errors.As(err, &classified) && classified.Class() == want
}
