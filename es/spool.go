package es

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// Spool is the part of an event store that stores temporary files, such as inputs and results of tasks. A file consists
// of numbered parts. An expired part counts as missing.
type Spool interface {
	// PutParts stores parts with the numbers from first, replacing those that exist. It fails with ErrSpoolFull, and
	// stores nothing, if the file's owner or tenant would hold too many bytes, before compression. A part that replaces
	// another counts again.
	PutParts(ctx context.Context, file File, first uint64, parts ...[]byte) error

	// Part reads a part consistently; false: it is missing.
	Part(ctx context.Context, tenant Tenant, name string, number uint64) ([]byte, bool, error)

	// DeleteFile deletes a file with all its parts, so that its bytes do not count any more. Only Tenant, Name and
	// Expires of the file are used. A file that does not exist is no error.
	DeleteFile(ctx context.Context, file File) error

	// DeleteExpired deletes the files that have expired, and counts them.
	DeleteExpired(ctx context.Context) (int, error)
}

// File names a temporary file. Expires belongs to the name: it is the same in every call, to the second.
type File struct {
	Tenant      Tenant
	Owner, Name string
	Expires     time.Time
}

// ErrSpoolFull: the owner or the tenant of a file would hold too many bytes.
var ErrSpoolFull = errors.New("the spool is full")

// SpoolLimits are the bytes that can be held at a time. Zero fields take their defaults.
type SpoolLimits struct {
	Owner  int // of all files of an owner in a tenant; default: 256 MiB
	Tenant int // of all files of a tenant; default: 4 GiB
}

// WithDefaults returns the limits without zero fields.
func (l SpoolLimits) WithDefaults() SpoolLimits {
	return SpoolLimits{Owner: cmp.Or(l.Owner, 256<<20), Tenant: cmp.Or(l.Tenant, 4<<30)}
}

const (
	// MaxPart is the maximum size of a part's uncompressed content, in bytes.
	MaxPart = 2 << 20
	// maxFileName is the maximum length of a file's name, in bytes.
	maxFileName = 64
)

// CheckParts reports parts that break the contract of [Spool], independent of the stored data.
func CheckParts(file File, parts [][]byte) error {
	switch {
	case file.Name == "" || len(file.Name) > maxFileName:
		return fmt.Errorf("the name of the file %q must have 1 to %d bytes", file.Name, maxFileName)
	case file.Owner == "":
		return fmt.Errorf("the file %s has no owner", file.Name)
	}
	for _, content := range parts {
		if len(content) > MaxPart {
			return fmt.Errorf("a part of the file %s has %d bytes, more than %d: make smaller parts", file.Name, len(content), MaxPart)
		}
	}
	return nil
}
