package es_test

import (
	"context"
	"fmt"

	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
)

// Rows can be compared with what the events say.
func Example_verify() {
	ctx := context.Background()
	w := openWarehouse(ctx)
	defer w.close()
	stop := w.project(ctx)
	defer stop()
	_, _, err := stocks.Read(ctx, w.store.DB, bolts, w.move(ctx, bolts, 5).Version)
	check(err)
	_, err = w.store.DB.ExecContext(ctx, `UPDATE stocks SET content = '{"Pieces":50}'`)
	check(err)

	rows, err := rowstore.New(w.store.DB, stocks.Table)
	check(err)
	projector := projection.New(rows, w.store, projection.Options{}, stocks.Handler())
	verified, err := projector.Verify(ctx, bolts)
	for _, d := range verified.Differences {
		fmt.Println(d.Row, d.What, d.Found, "instead of", d.Expected)
	}
	fmt.Println(len(verified.Differences), err)
	// Output:
	// stocks 01H42K4ABWQ5V2XQEP3A48VE0Z content "{\"Pieces\":50}" instead of "{\"Pieces\":5}"
	// 1 <nil>
}
