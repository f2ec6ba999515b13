package es_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/threads/es"
)

// A projection keeps a row for each aggregate. Who names a version reads a row that has it, or is told that it is not
// there yet.
func Example_projection() {
	ctx := context.Background()
	w := openWarehouse(ctx)
	defer w.close()
	stop := w.project(ctx)
	defer stop()

	w.move(ctx, bolts, 5)
	result := w.move(ctx, bolts, -2)
	row, version, err := stocks.Read(ctx, w.store.DB, bolts, result.Version)
	fmt.Println(row.Pieces, "pieces at version", version, err)

	short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	_, _, err = stocks.Read(short, w.store.DB, bolts, result.Version+1)
	fmt.Println(errors.Is(err, es.ErrBehind))
	// Output:
	// 3 pieces at version 2 <nil>
	// true
}
