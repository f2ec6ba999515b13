package usecase_test

import (
	"fmt"
	"slices"
	"testing"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
)

func TestEveryRejectionHasAKind(t *testing.T) {
	known := append(slices.Concat(thread.Rejections(), account.Rejections()), usecase.ErrConcurrentUpdate, usecase.ErrKeyReused, usecase.ErrUnavailable, usecase.ErrBehind,
		&ident.InvalidError{Field: "name"}, &usecase.VersionMismatchError{Expected: 1, Current: 2})
	for _, err := range known {
		if kind := usecase.KindOf(fmt.Errorf("deep: %w", fmt.Errorf("inside: %w", err))); kind == usecase.Internal {
			t.Errorf("%v would be told as an internal error", err)
		}
	}
	if kind := usecase.KindOf(fmt.Errorf("something else")); kind != usecase.Internal {
		t.Errorf("an unknown error has kind %v", kind)
	}
}
