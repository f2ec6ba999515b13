package es

import (
	"context"
	"fmt"
)

// Sequences is the part of an event store that draws numbers.
type Sequences interface {
	// Draw reserves the next count numbers of the tenant's sequence for the caller and returns the first of them; a new
	// sequence starts with 1. After an error the numbers may be lost; they are never drawn again.
	Draw(ctx context.Context, tenant Tenant, sequence string, count uint64) (first uint64, err error)
}

// MaxSequenceName is the maximum length of a sequence's name, in bytes.
const MaxSequenceName = 64

// maxDraw prevents a mistake from using up the numbers.
const maxDraw = 1_000_000

// CheckDraw reports a call that breaks the contract of [Sequences.Draw], independent of the stored data.
func CheckDraw(sequence string, count uint64) error {
	switch {
	case sequence == "" || len(sequence) > MaxSequenceName:
		return fmt.Errorf("the name of the sequence %q must have 1 to %d bytes", sequence, MaxSequenceName)
	case count == 0 || count > maxDraw:
		return fmt.Errorf("%d numbers of the sequence %s can't be drawn at once: it must be 1 to %d", count, sequence, maxDraw)
	}
	return nil
}
