package es

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
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

// closeTimeout limits how long snapshots are written after the last command. Missing snapshots only make the next load
// slower.
const closeTimeout = 2 * time.Second

// Run writes the snapshots that are due beside serve, which handles commands until ctx ends, and then finishes.
func (s Services) Run(ctx context.Context, log *slog.Logger, serve func(context.Context) error) error {
	due, stop := context.WithCancel(ctx)
	var background sync.WaitGroup
	background.Go(func() { s.CatchUp(due, log) })
	err := serve(ctx)
	stop()
	background.Wait()
	s.Finish(ctx, log)
	return err
}

// Finish completes the accepted commands, also when ctx has ended. Snapshots that take too long are given up.
func (s Services) Finish(ctx context.Context, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		log.WarnContext(ctx, "snapshots that were due have been given up; the next events of their aggregates make up for it", "error", err)
	}
}

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
