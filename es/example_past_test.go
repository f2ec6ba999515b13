package es_test

import (
	"context"
	"fmt"
)

// The journal has every event, and so every former state of an aggregate.
func ExampleRepository_At() {
	ctx := context.Background()
	w := openWarehouse(ctx)
	defer w.close()
	w.move(ctx, bolts, 5)
	w.move(ctx, bolts, -2)

	_, version, err := w.Latest(ctx, bolts)
	check(err)
	for e, err := range w.Events(ctx, bolts, 0, version) {
		check(err)
		state, err := w.At(ctx, bolts, e.SeqNr)
		fmt.Printf("%d: %+d, then there are %d; %v\n", e.SeqNr, e.Event.Pieces, state.Value.Pieces, err)
	}
	// Output:
	// 1: +5, then there are 5; <nil>
	// 2: -2, then there are 3; <nil>
}
