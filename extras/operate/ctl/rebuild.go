package ctl

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v3"

	"example.com/threads/es/rowstore"
)

const aboutRebuild = `Builds all rows of the read model from the journal in new tables beside the live ones. It
catches up with the live rows, compares the new rows with the journal, and switches to them in one step. Queries,
subscriptions and the updater continue meanwhile; process managers do not react to these events. An interrupted
rebuild continues with --resume. The previous rows stay in tables whose names end with _old until the next rebuild, or
--drop-old.

An event store that is empty while there are rows is probably lost, or the wrong one: the rows are then replaced only
with --from-empty.`

const fromEmpty = "from-empty"

func (o *operator) rebuildCommand() *cli.Command {
	return o.command(eventStore|readModel, checkRebuild, (*call).rebuild, &cli.Command{
		Name: "rebuild", Usage: "rebuilds the read model beside the live one, then switches", Description: aboutRebuild,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "resume", Usage: "continue an interrupted rebuild"},
			&cli.BoolFlag{Name: "cancel", Usage: "end a running or interrupted rebuild, and drop its rows"},
			&cli.BoolFlag{Name: "drop-old", Usage: "drop the rows that were live before the last rebuild"},
			&cli.BoolFlag{Name: fromEmpty, Usage: "replace the rows by none if the event store is empty; also with --resume"},
		},
	})
}

func checkRebuild(cmd *cli.Command) error {
	asked := 0
	for _, flag := range []string{"resume", "cancel", "drop-old"} {
		if cmd.Bool(flag) {
			asked++
		}
	}
	if asked > 1 {
		return wrong(cmd, "expected one of --resume, --cancel and --drop-old at most")
	}
	if cmd.Bool(fromEmpty) && (cmd.Bool("cancel") || cmd.Bool("drop-old")) {
		return wrong(cmd, "expected --from-empty alone or with --resume")
	}
	return nil
}

func (c *call) rebuild(ctx context.Context) error {
	rebuild, err := c.ReadModel.Rebuild(c.db, c.store.Gateway, 0, c.log)
	if err != nil {
		return err
	}
	var first *rowstore.RebuildState
	rebuild.FromEmpty = c.cmd.Bool(fromEmpty)
	rebuild.Observe = func(state rowstore.RebuildState) {
		first = cmp.Or(first, &state)
		pace := ""
		if left := state.Left(*first); left > 0 {
			rate := float64(state.Done-first.Done) / state.UpdatedAt.Sub(first.UpdatedAt).Seconds()
			pace = fmt.Sprintf(", %.0f a second, %.0f s left", rate, left.Seconds())
		}
		c.line.tell("%s: %d of %d events%s", state.Phase, state.Done, state.Total, pace)
	}
	switch {
	case c.cmd.Bool("drop-old"):
		err := rebuild.DropOld(ctx)
		if errors.Is(err, rowstore.ErrRebuilding) || errors.Is(err, rowstore.ErrUnfinished) {
			err = rebuildAdvice(err)
		}
		if err != nil {
			return err
		}
		return c.print(true, map[string]any{"dropped": true}, "the rows from before the last rebuild, if any, are dropped\n")
	case c.cmd.Bool("cancel"):
		err = rebuild.Cancel(ctx)
	case c.cmd.Bool("resume"):
		err = rebuild.Resume(ctx)
	default:
		err = rebuild.Start(ctx)
	}
	c.line.clear()
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
	case errors.Is(err, rowstore.ErrCancelled), errors.Is(err, rowstore.ErrEmptyJournal):
		return err
	}
	return fmt.Errorf("the rebuild failed, and the live rows are unchanged unless the error says otherwise; continue with `rows rebuild --resume`: %w", err)
}
