// Package kit is for the tests of aggregates: given what has happened, when a command comes, then this follows.
package kit

import (
	"errors"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Decider is an aggregate as its tests see it. The state before the first event is the zero S.
type Decider[S, C, E any] struct {
	Decide func(S, C) ([]E, error)
	Apply  func(S, E) S
}

// After is the state after the events.
func (d Decider[S, C, E]) After(events ...E) S {
	var state S
	for _, event := range events {
		state = d.Apply(state, event)
	}
	return state
}

// Rule is one rule of an aggregate, to be tested by an example. Then and Rejected run it as a test of its name.
type Rule[S, C, E any] struct {
	t       *testing.T
	name    string
	decider Decider[S, C, E]
	given   []E
	when    C
}

// Rule begins the example of a rule.
func (d Decider[S, C, E]) Rule(t *testing.T, name string) Rule[S, C, E] {
	return Rule[S, C, E]{t: t, name: name, decider: d}
}

// Given is what has happened so far.
func (r Rule[S, C, E]) Given(events ...E) Rule[S, C, E] {
	r.given = events
	return r
}

// When is the command that comes.
func (r Rule[S, C, E]) When(command C) Rule[S, C, E] {
	r.when = command
	return r
}

// Then checks that these events follow.
func (r Rule[S, C, E]) Then(events ...E) { r.t.Helper(); r.check(events, nil) }

// Rejected checks that the command is rejected with err and nothing follows.
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

// Diff is how two values differ, empty when they don't.
func Diff(want, got any) string { return cmp.Diff(want, got, ByValue()) }

// ByValue lets cmp compare value types, whose fields are not exported.
func ByValue() cmp.Option { return cmp.Exporter(func(reflect.Type) bool { return true }) }
