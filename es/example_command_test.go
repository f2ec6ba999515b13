package es_test

import (
	"context"
	"fmt"

	"example.com/threads/es"
)

// A command leads to events, or is rejected.
func ExampleService_Handle() {
	ctx := context.Background()
	w := openWarehouse(ctx)
	defer w.close()

	result, err := w.Handle(ctx, es.Request[Move]{ID: bolts.ID, Name: "Move", Command: Move{5}})
	fmt.Println(result.Version, err)
	_, err = w.Handle(ctx, es.Request[Move]{ID: bolts.ID, Name: "Move", Command: Move{-9}})
	fmt.Println(es.KindOf(err), "-", err)
	// Output:
	// 1 <nil>
	// conflict - there are too few pieces
}
