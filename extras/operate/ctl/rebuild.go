package ctl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v3"

	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/run"
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
	return &cli.Command{
		Name: "rebuild", Usage: "rebuilds the read model beside the live one, then switches", Description: aboutRebuild,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "resume", Usage: "continue an interrupted rebuild"},
			&cli.BoolFlag{Name: "cancel", Usage: "end a running or interrupted rebuild, and drop its rows"},
			&cli.BoolFlag{Name: "drop-old", Usage: "drop the rows that were live before the last rebuild"},
			&cli.BoolFlag{Name: fromEmpty, Usage: "replace the rows by none if the event store is empty; also with --resume"},
			jsonFlag,
		},
		Before: checkRebuild,
		Action: o.withRows(o.rebuildRows),
	}
}

func checkRebuild(ctx context.Context, cmd *cli.Command) (context.Context, error) {
	asked := 0
	for _, flag := range []string{"resume", "cancel", "drop-old"} {
		if cmd.Bool(flag) {
			asked++
		}
	}
	if cmd.NArg() > 0 || asked > 1 {
		return ctx, wrong(cmd, "expected no argument, and one of --resume, --cancel and --drop-old at most")
	}
	if cmd.Bool(fromEmpty) && (cmd.Bool("cancel") || cmd.Bool("drop-old")) {
		return ctx, wrong(cmd, "expected --from-empty alone or with --resume")
	}
	return ctx, nil
}

func (o *operator) rebuildRows(ctx context.Context, cmd *cli.Command, s *rowStation) error {
	sets := rowstore.NewRowSets(s.rows, s.settings.ReadModel.Tables)
	if cmd.Bool("drop-old") {
		return o.dropOld(ctx, cmd, sets)
	}
	others, err := run.Others(s.db.DB, 0, s.settings.ReadModel.Others...)
	if err != nil {
		return err
	}
	progress := o.progress()
	rebuild := projection.NewRebuild(sets, s.rows, projection.NewJournalReader(s.store.Gateway), projection.RebuildOptions{
		Logger: s.db.log, Workers: run.Workers(s.db.DB), Others: others, FromEmpty: cmd.Bool(fromEmpty),
		Observe: func(state projection.RebuildState, since time.Time, from uint64) {
			pace := ""
			if left := state.Left(state.UpdatedAt, since, from); left > 0 {
				rate := float64(state.Done-from) / state.UpdatedAt.Sub(since).Seconds()
				pace = fmt.Sprintf(", %.0f a second, %.0f s left", rate, left.Seconds())
			}
			progress.tell("%s: %d of %d events%s", state.Phase, state.Done, state.Total, pace)
		},
	}, s.settings.ReadModel.Handlers...)
	switch {
	case cmd.Bool("cancel"):
		err = rebuild.Cancel(ctx)
	case cmd.Bool("resume"):
		err = rebuild.Resume(ctx)
	default:
		err = rebuild.Start(ctx)
	}
	progress.clear()
	if err != nil {
		return rebuildAdvice(err)
	}
	return o.tellRebuild(ctx, cmd, sets)
}

// rebuildAdvice adds what to do to an error.
func rebuildAdvice(err error) error {
	switch {
	case errors.Is(err, projection.ErrUnfinished):
		return fmt.Errorf("%w: continue with --resume, or end it with --cancel", err)
	case errors.Is(err, projection.ErrRebuilding):
		return fmt.Errorf("%w, in another process: wait for its end, see /health/ready of the updater, or end it with --cancel", err)
	case errors.Is(err, projection.ErrNothingBegun):
		return fmt.Errorf("%w: `rows rebuild` begins one", err)
	case errors.Is(err, projection.ErrCancelled), errors.Is(err, projection.ErrEmptyJournal):
		return err
	}
	return fmt.Errorf("the rebuild failed, and the live rows are unchanged unless the error says otherwise; continue with `rows rebuild --resume`: %w", err)
}

func (o *operator) tellRebuild(ctx context.Context, cmd *cli.Command, sets *rowstore.RowSets) error {
	state, err := sets.State(ctx)
	if err != nil {
		return err
	}
	took := state.UpdatedAt.Sub(state.StartedAt)
	text := fmt.Sprintf("the rows were rebuilt from %d events in %.1f s, compared with the journal, and are live; "+
		"--drop-old drops those that were live before\n", state.Done, took.Seconds())
	if state.Phase == projection.Cancelled || state.Cancelled {
		text = "the rebuild ends and its rows are dropped: the live rows are unchanged\n"
	}
	return o.print(cmd, map[string]any{"phase": state.Phase, "events": state.Done, "seconds": took.Seconds()}, text)
}

func (o *operator) dropOld(ctx context.Context, cmd *cli.Command, sets *rowstore.RowSets) error {
	ctx, release, err := sets.Lock(ctx)
	if errors.Is(err, projection.ErrRebuilding) {
		return rebuildAdvice(err)
	}
	if err != nil {
		return err
	}
	defer release()
	state, err := sets.State(ctx)
	if err == nil && !state.Over() {
		err = rebuildAdvice(projection.ErrUnfinished)
	}
	if err == nil {
		err = sets.Drop(ctx)
	}
	if err != nil {
		return err
	}
	return o.print(cmd, map[string]any{"dropped": true}, "the rows from before the last rebuild, if any, are dropped\n")
}
