package eventstore

import (
	"context"
	"fmt"
	"time"
)

// Spool is the part of an event store that holds files for a while, such as the input of long work and its result. A
// file consists of numbered parts; one that was never stored, and one that has expired, is not there.
type Spool interface {
	// PutPart stores a part of a file of the tenant, in place of one with the same number.
	PutPart(ctx context.Context, tenant, file string, number uint64, content []byte, expires time.Time) error

	// Part reads a part consistently; false if it is not there.
	Part(ctx context.Context, tenant, file string, number uint64) ([]byte, bool, error)
}

// SpoolPruner is what a gateway can have whose store does not forget parts of files by itself.
type SpoolPruner interface {
	// PruneSpool deletes the parts that expired before a time, and counts them; with dryRun it only counts.
	PruneSpool(ctx context.Context, expiredBefore time.Time, dryRun bool) (int, error)
}

const (
	// MaxPart is the maximum size of a part's content, in bytes; in the store it is compressed.
	MaxPart = 2 << 20
	// MaxFileName is the maximum length of a file's name, in bytes.
	MaxFileName = 64
)

// CheckPart reports a part that breaks the contract of [Spool], whatever is stored.
func CheckPart(file string, content []byte) error {
	switch {
	case file == "" || len(file) > MaxFileName:
		return fmt.Errorf("the name of the file %q must have 1 to %d bytes", file, MaxFileName)
	case len(content) > MaxPart:
		return fmt.Errorf("a part of the file %s has %d bytes, more than %d: make smaller parts", file, len(content), MaxPart)
	}
	return nil
}
