package es_test

import (
	"fmt"
	"testing"

	"example.com/threads/es"
	"example.com/threads/es/estest/notebook"
)

// The kind of a rejection is declared with it: every rejection of a domain must have one.
func TestEveryRejectionHasAKind(t *testing.T) {
	known := []error{
		notebook.ErrNotFound, notebook.ErrClosed, notebook.ErrNotShared, es.ErrConcurrentUpdate, es.ErrKeyReused, es.ErrUnavailable, es.ErrBehind,
		&es.InvalidError{Field: "name"}, &es.VersionMismatchError{Expected: 1, Current: 2},
	}
	for _, err := range known {
		if kind := es.KindOf(fmt.Errorf("deep: %w", fmt.Errorf("inside: %w", err))); kind == es.Internal {
			t.Errorf("clients would see %v as an internal error", err)
		}
	}
	if kind := es.KindOf(fmt.Errorf("something else")); kind != es.Internal {
		t.Errorf("an unknown error has kind %v", kind)
	}
}
