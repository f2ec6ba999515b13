// Package seq has what iterators with errors share: they end after an error.
package seq

import (
	"errors"
	"iter"
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
