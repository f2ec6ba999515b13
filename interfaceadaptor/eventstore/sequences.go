package eventstore

import (
	"context"
	"fmt"
)

// Sequences is the part of an event store that counts.
type Sequences interface {
	// Draw takes the next count numbers of the tenant's sequence for the caller alone and returns the first of them; a
	// new sequence begins with 1. After an error the numbers may be lost: they are never given to anybody.
	Draw(ctx context.Context, tenant, sequence string, count uint64) (first uint64, err error)
}

// MaxSequenceName is the maximum length of a sequence's name, in bytes.
const MaxSequenceName = 64

// maxDraw keeps a mistake from using numbers up.
const maxDraw = 1_000_000

// CheckDraw reports a call that breaks the contract of [Sequences.Draw], whatever is stored.
func CheckDraw(sequence string, count uint64) error {
	switch {
	case sequence == "" || len(sequence) > MaxSequenceName:
		return fmt.Errorf("the name of the sequence %q must have 1 to %d bytes", sequence, MaxSequenceName)
	case count == 0 || count > maxDraw:
		return fmt.Errorf("%d numbers of the sequence %s can't be drawn at once: it must be 1 to %d", count, sequence, maxDraw)
	}
	return nil
}
