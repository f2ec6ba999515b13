package es_test

import (
	"context"
	"fmt"

	"example.com/threads/es"
)

// An aggregate is loaded from its latest snapshot and the events after it. Snapshots are also written on their own,
// every Settings.SnapshotEvery events.
func ExampleService_Snapshot() {
	ctx := context.Background()
	w := openWarehouse(ctx)
	defer w.close()

	w.move(ctx, bolts, 5)
	w.move(ctx, bolts, 4)
	version, err := w.Snapshot(ctx, es.Caller{}, bolts.ID)
	fmt.Println("a snapshot of version", version, err)
	w.move(ctx, bolts, -2)

	counting, applied := shelves, 0
	counting.Apply = func(s Shelf, e Moved) Shelf {
		applied++
		return shelves.Apply(s, e)
	}
	another := es.NewRepository(counting, w.store, es.Settings{})
	state, err := another.Load(ctx, bolts)
	fmt.Println(state.Value.Pieces, "pieces at version", state.Version, "after", applied, "event;", err)
	check(another.Close(ctx))
	// Output:
	// a snapshot of version 2 <nil>
	// 7 pieces at version 3 after 1 event; <nil>
}
