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

// Decision is a line in the table of an aggregate's rules: the events so far, a command, and the events that follow from
// it or the rejection.
type Decision[C, E any] struct {
	Rule     string
	Given    []E
	When     C
	Then     []E
	Rejected error
}

// Check runs a test for each line.
func (d Decider[S, C, E]) Check(t *testing.T, rules []Decision[C, E]) {
	t.Helper()
	for _, rule := range rules {
		t.Run(rule.Rule, func(t *testing.T) {
			events, err := d.Decide(d.After(rule.Given...), rule.When)
			if !errors.Is(err, rule.Rejected) {
				t.Errorf("got error %v, want %v", err, rule.Rejected)
			}
			if diff := cmp.Diff(rule.Then, events, ByValue()); diff != "" {
				t.Error("events (-want +got):\n" + diff)
			}
		})
	}
}

// After is the state after the events.
func (d Decider[S, C, E]) After(events ...E) S {
	var state S
	for _, event := range events {
		state = d.Apply(state, event)
	}
	return state
}

// ByValue lets cmp compare value types, whose fields are not exported.
func ByValue() cmp.Option { return cmp.Exporter(func(reflect.Type) bool { return true }) }
