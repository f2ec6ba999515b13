package es_test

import (
	"context"
	"fmt"
	"strconv"

	"example.com/threads/es"
)

// A command that is sent again with the same idempotency key is not applied again, and gets the first answer.
func ExampleService_Handle_repeat() {
	ctx := context.Background()
	w := openWarehouse(ctx)
	defer w.close()

	for _, pieces := range []int{5, 5, 6} {
		result, err := w.Handle(ctx, es.Request[Move]{
			ID: bolts.ID, Name: "Move", Command: Move{pieces}, Content: strconv.Itoa(pieces), IdempotencyKey: "delivery 7",
		})
		fmt.Println(result.Version, result.Replayed, es.KindOf(err) == es.KeyReused)
	}
	// Output:
	// 1 false false
	// 1 true false
	// 0 false true
}
