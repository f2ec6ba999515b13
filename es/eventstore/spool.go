package eventstore

import (
	"context"
	"fmt"
	"time"
)

// Spool is the part of an event store that stores temporary files, such as inputs and results of tasks. A file consists
// of numbered parts. An expired part counts as missing.
type Spool interface {
	// PutPart stores a part of a file of the tenant, replacing one with the same number.
	PutPart(ctx context.Context, tenant, file string, number uint64, content []byte, expires time.Time) error

	// Part reads a part consistently; false: it is missing.
	Part(ctx context.Context, tenant, file string, number uint64) ([]byte, bool, error)
}

// SpoolPruner is an optional capability of gateways whose store does not delete expired parts by itself.
type SpoolPruner interface {
	// PruneSpool deletes the parts that expired before a time, and counts them; with dryRun it only counts.
	PruneSpool(ctx context.Context, expiredBefore time.Time, dryRun bool) (int, error)
}

const (
	// MaxPart is the maximum size of a part's uncompressed content, in bytes.
	MaxPart = 2 << 20
	// MaxFileName is the maximum length of a file's name, in bytes.
	MaxFileName = 64
)

// CheckPart reports a part that breaks the contract of [Spool], independent of the stored data.
func CheckPart(file string, content []byte) error {
	switch {
	case file == "" || len(file) > MaxFileName:
		return fmt.Errorf("the name of the file %q must have 1 to %d bytes", file, MaxFileName)
	case len(content) > MaxPart:
		return fmt.Errorf("a part of the file %s has %d bytes, more than %d: make smaller parts", file, len(content), MaxPart)
	}
	return nil
}
