package usecase_test

import (
	"fmt"

	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
)

// Adapters answer errors by kind, however deep they are wrapped.
func ExampleKindOf() {
	err := fmt.Errorf("rename the thread: %w", thread.ErrNotAdmin)
	switch usecase.KindOf(err) {
	case usecase.Forbidden:
		fmt.Println("forbidden:", err)
	default:
		fmt.Println("something else:", err)
	}
	// Output: forbidden: rename the thread: only an Admin of the thread may do this
}
