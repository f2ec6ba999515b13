package estest_test

import (
	"fmt"
	"testing"

	"example.com/threads/es"
	"example.com/threads/es/estest"
)

// The rules of an aggregate are tested without a store.
func ExampleGiven() {
	type (
		shelf struct{ Pieces int }
		move  struct{ Pieces int }
		moved struct{ Pieces int }
	)
	shelves := es.Aggregate[shelf, move, moved]{
		Decide: func(s shelf, m move) ([]moved, error) {
			if s.Pieces+m.Pieces < 0 {
				return nil, es.Reject(es.Conflict, "too_few", "there are too few pieces")
			}
			return []moved{{m.Pieces}}, nil
		},
		Apply: func(s shelf, e moved) shelf { return shelf{s.Pieces + e.Pieces} },
	}

	t := new(testing.T) // in a test, its own
	estest.Given(shelves, moved{5}).When(move{-5}).Then(t, moved{-5})
	estest.Given(shelves, moved{5}, moved{-5}).When(move{-1}).Rejects(t, "too_few")
	fmt.Println(t.Failed())
	// Output: false
}
