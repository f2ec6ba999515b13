// Package seq has what iterators with errors share: they end after an error.
package seq

import (
	"context"
	"errors"
	"iter"
	"sync"

	"golang.org/x/sync/errgroup"
)

// ErrSkip is returned by the function of [Map] for a value that is left out.
var ErrSkip = errors.New("left out")

// Map yields what a function makes of each value. It ends after the first error.
func Map[A, B any](from iter.Seq2[A, error], to func(A) (B, error)) iter.Seq2[B, error] {
	return func(yield func(B, error) bool) {
		for a, err := range from {
			var b B
			if err == nil {
				b, err = to(a)
			}
			if errors.Is(err, ErrSkip) {
				continue
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// Concat yields the values of one iterator after those of another. It ends after the first error.
func Concat[A any](each ...iter.Seq2[A, error]) iter.Seq2[A, error] {
	return func(yield func(A, error) bool) {
		for _, from := range each {
			for a, err := range from {
				if !yield(a, err) || err != nil {
					return
				}
			}
		}
	}
}

// Each does something with each value, some at once, and tells the outcomes one after the other, in any order. It ends
// after the first error.
func Each[A, B any](
	ctx context.Context, atOnce int, from func(context.Context) iter.Seq2[A, error], do func(context.Context, A) (B, error), tell func(A, B) error,
) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce + 1)
	var telling sync.Mutex
	group.Go(func() error {
		for a, err := range from(ctx) {
			if err != nil {
				return err
			}
			group.Go(func() error {
				b, err := do(ctx, a)
				if err != nil {
					return err
				}
				telling.Lock()
				defer telling.Unlock()
				if ctx.Err() != nil {
					return ctx.Err()
				}
				return tell(a, b)
			})
		}
		return nil
	})
	return group.Wait()
}

// Where yields the values that a function accepts; nil accepts all.
func Where[A any](from iter.Seq2[A, error], accepts func(A) bool) iter.Seq2[A, error] {
	return Map(from, func(a A) (A, error) {
		if accepts != nil && !accepts(a) {
			return a, ErrSkip
		}
		return a, nil
	})
}
