package main

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

func TestContextEndsWithTheParent(t *testing.T) {
	var parent atomic.Int64
	parent.Store(4711)
	ctx, cancel := withParent(t.Context(), func() int { return int(parent.Load()) })
	defer cancel()
	if ctx.Err() != nil {
		t.Fatal("ended too soon")
	}
	parent.Store(1)
	<-ctx.Done()
	if !errors.Is(context.Cause(ctx), errOrphaned) {
		t.Errorf("ended with %v", context.Cause(ctx))
	}
}
