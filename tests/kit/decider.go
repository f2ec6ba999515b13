// Package kit tests aggregates by rules: given past events, when a command is decided, then these events result.
package kit

import (
	"errors"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Decider is the aggregate under test. The state before the first event is the zero S.
type Decider[S, C, E any] struct {
	Decide func(S, C) ([]E, error)
	Apply  func(S, E) S
}

// After returns the state after the events.
func (d Decider[S, C, E]) After(events ...E) S {
	var state S
	for _, event := range events {
		state = d.Apply(state, event)
	}
	return state
}

// Rule is an example of one rule of an aggregate. Then and Rejected run it as a subtest with its name.
type Rule[S, C, E any] struct {
	t       *testing.T
	name    string
	decider Decider[S, C, E]
	given   []E
	when    C
}

// Rule starts the example of a rule.
func (d Decider[S, C, E]) Rule(t *testing.T, name string) Rule[S, C, E] {
	return Rule[S, C, E]{t: t, name: name, decider: d}
}

// Given sets the past events.
func (r Rule[S, C, E]) Given(events ...E) Rule[S, C, E] {
	r.given = events
	return r
}

// When sets the command.
func (r Rule[S, C, E]) When(command C) Rule[S, C, E] {
	r.when = command
	return r
}

// Then checks that the command results in these events.
func (r Rule[S, C, E]) Then(events ...E) { r.t.Helper(); r.check(events, nil) }

// Rejected checks that the command is rejected with err, without events.
func (r Rule[S, C, E]) Rejected(err error) { r.t.Helper(); r.check(nil, err) }

func (r Rule[S, C, E]) check(events []E, rejected error) {
	r.t.Helper()
	r.t.Run(r.name, func(t *testing.T) {
		t.Helper()
		got, err := r.decider.Decide(r.decider.After(r.given...), r.when)
		if !errors.Is(err, rejected) {
			t.Errorf("got error %v, want %v", err, rejected)
		}
		if diff := Diff(events, got); diff != "" {
			t.Error("events (-want +got):\n" + diff)
		}
	})
}

// Diff returns the differences of two values; empty: there are none.
func Diff(want, got any) string { return cmp.Diff(want, got, ByValue()) }

// ByValue lets cmp compare value types, whose fields are not exported.
func ByValue() cmp.Option { return cmp.Exporter(func(reflect.Type) bool { return true }) }
