package es_test

import (
	"context"
	"fmt"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
)

// A rebuild makes all rows again from the events, beside the live ones, and then puts them in their place. It is for a
// fold that has changed.
func Example_rebuild() {
	ctx := context.Background()
	w := openWarehouse(ctx)
	defer w.close()
	stop := w.project(ctx)
	_, _, err := stocks.Read(ctx, w.store.DB, bolts, w.move(ctx, bolts, 5).Version)
	check(err)
	stop()

	inDozens := stocks
	inDozens.Version, inDozens.Fold = 2, func(row Stock, e es.Recorded[Moved]) (Stock, error) {
		return Stock{row.Pieces + 12*e.Event.Pieces}, nil
	}
	rows, err := rowstore.New(w.store.DB, inDozens.Table)
	check(err)
	rebuild := rowstore.Rebuild{
		Store: rows, Tables: []string{inDozens.Table}, Journal: w.store, Handlers: []projection.Handler{inDozens.Handler()},
	}
	fmt.Println(rebuild.Start(ctx))

	row, version, err := inDozens.Read(ctx, w.store.DB, bolts, 0)
	fmt.Println(row.Pieces, "pieces at version", version, err)
	// Output:
	// <nil>
	// 60 pieces at version 1 <nil>
}
