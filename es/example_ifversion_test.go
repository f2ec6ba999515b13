package es_test

import (
	"context"
	"fmt"

	"example.com/threads/es"
)

// A command with IfVersion is only applied if nothing has happened since its sender looked.
func ExampleService_Handle_ifVersion() {
	ctx := context.Background()
	w := openWarehouse(ctx)
	defer w.close()

	seen := w.move(ctx, bolts, 5).Version
	w.move(ctx, bolts, 1) // by somebody else
	_, err := w.Handle(ctx, es.Request[Move]{ID: bolts.ID, Name: "Move", Command: Move{-5}, IfVersion: seen})
	fmt.Println(err)
	// Output: it is at version 2, not 1; read it again and decide again
}
