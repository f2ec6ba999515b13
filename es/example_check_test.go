package es_test

import (
	"context"
	"fmt"

	"example.com/threads/es/journalcheck"
)

// A head and a journal that contradict each other, as after a change by hand, are found and repaired.
func Example_check() {
	ctx := context.Background()
	w := openWarehouse(ctx)
	defer w.close()
	w.move(ctx, bolts, 5)
	w.move(ctx, bolts, -2)
	_, err := w.store.DB.ExecContext(ctx, "UPDATE aggregates SET version = 1")
	check(err)

	checker := journalcheck.New(w.store, shelves)
	found, err := checker.Aggregate(ctx, bolts)
	for _, finding := range found {
		fmt.Println(finding.Kind, finding.Repairable)
	}
	check(err)
	_, left, err := checker.Repair(ctx, bolts, false)
	fmt.Println(len(left), "left", err)
	// Output:
	// head_behind true
	// 0 left <nil>
}
