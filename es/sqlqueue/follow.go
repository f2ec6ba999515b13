package sqlqueue

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/sqlstore"
)

// Follow keeps the rows of a projection in the file of its event store until ctx ends: it applies new events, retries
// what could not be applied, and rebuilds the rows in tables first when a handler has another version than the one that
// made them. It returns an error only before it has begun. A file has one such projection.
func Follow(ctx context.Context, file *sqlstore.File, name string, tables []string, handlers ...projection.Handler) error {
	store, err := rowstore.New(file.DB, name)
	if err != nil {
		return err
	}
	queue, err := sqlstore.NewQueue(file.DB)
	if err != nil {
		return err
	}
	journal := projection.NewJournalReader(file.Gateway)
	log := slog.Default()
	sets := rowstore.NewRowSets(store, tables)
	rebuild := projection.NewRebuild(sets, store, journal, projection.RebuildOptions{Logger: log}, handlers...)
	// When ctx ends meanwhile, the next Follow finishes the rebuild.
	if err := rebuildIfOutdated(ctx, sets, rebuild, handlers); err != nil && ctx.Err() == nil {
		return fmt.Errorf("rebuild the rows of %s: %w", name, err)
	}
	projector := projection.New(store, journal, projection.Options{Logger: log, Remaining: journal.Remaining}, handlers...)
	source := New(Ports{Queue: queue, Projector: projector, Checkpoints: store, Log: log}, Settings{PollMax: 20 * time.Millisecond})
	var working sync.WaitGroup
	working.Go(func() { projector.Run(ctx) })
	source.Run(ctx)
	working.Wait()
	return nil
}

// rebuildIfOutdated also finishes a rebuild that a crash has interrupted.
func rebuildIfOutdated(ctx context.Context, sets projection.RowSets, rebuild *projection.Rebuild, handlers []projection.Handler) error {
	state, err := sets.State(ctx)
	if err != nil {
		return err
	}
	outdated, err := projection.Outdated(ctx, sets, handlers)
	switch {
	case err != nil:
		return err
	case !state.Over():
		return rebuild.Resume(ctx)
	case len(outdated) > 0:
		return rebuild.Start(ctx)
	}
	return nil
}
