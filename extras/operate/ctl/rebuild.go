package ctl

import (
	"context"
	"errors"
	"fmt"

	"example.com/threads/es/rowstore"
)

type rebuild struct {
	Resume    bool `xor:"what" help:"continue an interrupted rebuild"`
	Cancel    bool `xor:"what,from" help:"end a running or interrupted rebuild, and drop its rows"`
	DropOld   bool `xor:"what,from" help:"drop the rows that were live before the last rebuild"`
	FromEmpty bool `xor:"from" help:"replace the rows by none if the event store is empty; also with --resume"`
}

func (rebuild) Help() string {
	return `Builds all rows of the read model from the journal in new tables beside the live ones. It
catches up with the live rows, compares the new rows with the journal, and switches to them in one step. Queries,
subscriptions and the updater continue meanwhile; process managers do not react to these events. An interrupted
rebuild continues with --resume. The previous rows stay in tables whose names end with _old until the next rebuild, or
--drop-old.

An event store that is empty while there are rows is probably lost, or the wrong one: the rows are then replaced only
with --from-empty.`
}

// Run rebuilds the rows, or does what a flag says.
func (cmd *rebuild) Run(ctx context.Context, c *call) error {
	rebuild, err := c.ReadModel.Rebuild(c.db, c.store.Gateway, 0, c.log)
	if err != nil {
		return err
	}
	rebuild.FromEmpty = cmd.FromEmpty
	rebuild.Observe = func(state rowstore.RebuildState) {
		c.line.tell("%s: %d of %d events", state.Phase, state.Done, state.Total)
	}
	switch {
	case cmd.DropOld:
		err := rebuild.DropOld(ctx)
		if errors.Is(err, rowstore.ErrRebuilding) || errors.Is(err, rowstore.ErrUnfinished) {
			err = rebuildAdvice(err)
		}
		if err != nil {
			return err
		}
		return c.print(true, map[string]any{"dropped": true}, "the rows from before the last rebuild, if any, are dropped\n")
	case cmd.Cancel:
		err = rebuild.Cancel(ctx)
	case cmd.Resume:
		err = rebuild.Resume(ctx)
	default:
		err = rebuild.Start(ctx)
	}
	if err != nil {
		return rebuildAdvice(err)
	}
	state, err := rebuild.Store.RebuildState(ctx)
	if err != nil {
		return err
	}
	took := state.UpdatedAt.Sub(state.StartedAt).Seconds()
	text := fmt.Sprintf("the rows were rebuilt from %d events in %.1f s, compared with the journal, and are live; "+
		"--drop-old drops those that were live before\n", state.Done, took)
	if state.Cancelled {
		text = "the rebuild ends and its rows are dropped: the live rows are unchanged\n"
	}
	return c.print(true, map[string]any{"phase": state.Phase, "events": state.Done, "seconds": took}, text)
}

// rebuildAdvice adds what to do to an error.
func rebuildAdvice(err error) error {
	switch {
	case errors.Is(err, rowstore.ErrUnfinished):
		return fmt.Errorf("%w: continue with --resume, or end it with --cancel", err)
	case errors.Is(err, rowstore.ErrRebuilding):
		return fmt.Errorf("%w, in another process: wait for its end, see /health/ready of the updater, or end it with --cancel", err)
	case errors.Is(err, rowstore.ErrNothingBegun):
		return fmt.Errorf("%w: `rows rebuild` begins one", err)
	case errors.Is(err, rowstore.ErrEmptyJournal):
		return fmt.Errorf("%w; only if all events are gone for good, `rows rebuild --from-empty` replaces the rows by none", err)
	case errors.Is(err, rowstore.ErrCancelled):
		return err
	}
	return fmt.Errorf("the rebuild failed, and the live rows are unchanged unless the error says otherwise; continue with `rows rebuild --resume`: %w", err)
}
