package es

import (
	"context"
	"errors"
	"log/slog"
)

// AnyService is a [Service] with any state, commands and events.
type AnyService interface {
	Type() string
	Cached() (states int, bytes uint64)
	WriteSnapshotsDue(ctx context.Context) (written int, err error)
	Close(ctx context.Context) error
}

// Services are the services of a program, one for each aggregate type.
type Services []AnyService

// CatchUp writes the snapshots that were still pending when the program ended the last time; see
// [Repository.WriteSnapshotsDue].
func (s Services) CatchUp(ctx context.Context, log *slog.Logger) {
	for _, each := range s {
		written, err := each.WriteSnapshotsDue(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			log.WarnContext(ctx, "snapshots that were due at the start could not be written; the next events of their aggregates make up for it", "error", err)
		case written > 0:
			log.InfoContext(ctx, "wrote the snapshots that were due", "aggregate_type", each.Type(), "count", written)
		}
	}
}

// Close closes all; see [Service.Close].
func (s Services) Close(ctx context.Context) (err error) {
	for _, each := range s {
		err = errors.Join(err, each.Close(ctx))
	}
	return err
}
