package es_test

import (
	"context"
	"fmt"

	"example.com/threads/es"
)

// A sequence draws numbers for codes that people read. No code is drawn twice.
func Example_sequence() {
	ctx := context.Background()
	w := openWarehouse(ctx)
	defer w.close()

	orders := es.Sequence{Store: w.store, Kind: "ORDER"}
	for range 2 {
		fmt.Println(orders.NextCode(ctx, ""))
	}
	// Output:
	// ORDER-000001 <nil>
	// ORDER-000002 <nil>
}
