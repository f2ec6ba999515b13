package es_test

import (
	"context"
	"fmt"
	"log/slog"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
)

// A watcher reads versions once for all readers that wait for one, whatever the tables of the rows are. A projection in
// the same process can wake it after its commit.
func Example_watcher() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w := openWarehouse(ctx)
	defer w.close()
	stop := w.project(ctx)
	defer stop()
	positions, err := rowstore.New(w.store.DB, stocks.Table)
	check(err)
	watcher := projection.NewWatcher(positions.Versions, slog.Default())
	go watcher.Run(ctx)

	result := w.move(ctx, bolts, 5)
	err = watcher.Await(ctx, map[es.AggregateID]uint64{bolts: result.Version})
	row, version, _ := stocks.Read(ctx, w.store.DB, bolts, 0)
	fmt.Println(row.Pieces, "pieces at version", version, err)
	// Output:
	// 5 pieces at version 1 <nil>
}
