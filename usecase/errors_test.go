package usecase_test

import (
	"fmt"
	"testing"

	"example.com/threads/domain/ident"
	"example.com/threads/usecase"
)

// The kind of a rejection is declared with it: every rejection of a domain must have one.
func TestEveryRejectionHasAKind(t *testing.T) {
	known := []error{
		ident.NotFound("a", "a"), ident.Forbidden("b", "b"), ident.Conflict("c", "c"), usecase.ErrConcurrentUpdate, usecase.ErrKeyReused, usecase.ErrUnavailable, usecase.ErrBehind,
		&ident.InvalidError{Field: "name"}, &usecase.VersionMismatchError{Expected: 1, Current: 2},
	}
	for _, err := range known {
		if kind := usecase.KindOf(fmt.Errorf("deep: %w", fmt.Errorf("inside: %w", err))); kind == usecase.Internal {
			t.Errorf("clients would see %v as an internal error", err)
		}
	}
	if kind := usecase.KindOf(fmt.Errorf("something else")); kind != usecase.Internal {
		t.Errorf("an unknown error has kind %v", kind)
	}
}
