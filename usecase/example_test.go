package usecase_test

import (
	"fmt"

	"example.com/threads/domain/thread"
	"example.com/threads/es"
)

// Adapters answer errors by kind, even if they are wrapped.
func ExampleKindOf() {
	err := fmt.Errorf("rename the thread: %w", thread.ErrNotAdmin)
	if es.KindOf(err) == es.Forbidden {
		fmt.Println("forbidden:", err)
	}
	// Output: forbidden: rename the thread: only an Admin of the thread may do this
}
