package ctl

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/urfave/cli/v3"

	"example.com/threads/es"
)

const aboutDue = `Lists the aggregates whose version is more than SNAPSHOT_EVERY ahead of their latest snapshot. Nothing is wrong with them:
loading them takes longer. On DynamoDB it reads the whole snapshot table.`

const aboutTake = `Writes the snapshot of one aggregate, or all snapshots that are due. It may run beside the
programs.`

func (o *operator) snapshots() *cli.Command {
	return &cli.Command{
		Name: "snapshots", Usage: "lists aggregates with a snapshot due, and writes it",
		Commands: []*cli.Command{
			{
				Name: "due", Usage: "lists the aggregates with a snapshot due", Description: aboutDue,
				Flags: []cli.Flag{tenantFlag, jsonFlag}, Before: noArgument, Action: o.withStore(o.due),
			},
			{
				Name: "take", Usage: "writes the snapshots that are due", ArgsUsage: "[AID]", Description: aboutTake,
				Flags: []cli.Flag{tenantFlag, jsonFlag}, Before: maybeAggregate, Action: o.withStore(o.take),
			},
		},
	}
}

// dueSnapshot is an aggregate whose snapshot is due, or was written.
type dueSnapshot struct {
	Tenant          string `json:"tenant"`
	AID             string `json:"aid"`
	Version         uint64 `json:"version"`
	SnapshotVersion uint64 `json:"snapshot_version"`
	Error           string `json:"error,omitempty"` // why writing failed
}

func dueOf(head es.AggregateHead) dueSnapshot {
	return dueSnapshot{Tenant: head.ID.Tenant.String(), AID: head.ID.String(), Version: head.Version, SnapshotVersion: head.SnapshotVersion}
}

// lacking yields the aggregates of known types that are more than SNAPSHOT_EVERY events ahead of their snapshot.
func (s *storeStation) lacking(ctx context.Context, cmd *cli.Command) iter.Seq2[es.AggregateHead, error] {
	least := uint64(s.settings.SnapshotEvery) + 1
	wanted := wanted(cmd)
	return func(yield func(es.AggregateHead, error) bool) {
		for _, name := range s.types.names() {
			heads := s.store.Gateway.Heads(ctx, name)
			if finder, able := s.store.Gateway.(es.DueFinder); able {
				heads = finder.SnapshotsDue(ctx, name, least)
			}
			for head, err := range heads {
				if err == nil && wanted(head.ID) && head.Version == 0 {
					err = fmt.Errorf("the head of %s can't be read: `journal check` says why", head.ID)
				}
				if err != nil {
					yield(head, err)
					return
				}
				// `journal check` reports wrong heads.
				if wanted(head.ID) && head.Version >= head.SnapshotVersion+least && !yield(head, nil) {
					return
				}
			}
		}
	}
}

func (o *operator) due(ctx context.Context, cmd *cli.Command, s *storeStation) error {
	told, count := o.report(cmd, "snapshots"), 0
	for head, err := range s.lacking(ctx, cmd) {
		if err != nil {
			return err
		}
		due := dueOf(head)
		if err := told.add(due, fmt.Sprintf("%s is due: version %d, latest snapshot %d\n", whose(due.Tenant, due.AID), due.Version, due.SnapshotVersion)); err != nil {
			return err
		}
		count++
	}
	return told.end(true, fmt.Sprintf("%d snapshots due\n", count), "due", count, "failed", 0)
}

func (o *operator) take(ctx context.Context, cmd *cli.Command, s *storeStation) error {
	due := s.lacking(ctx, cmd)
	if cmd.NArg() > 0 {
		id, err := aggregateOf(cmd)
		if err != nil {
			return err
		}
		if due, err = s.one(ctx, id); err != nil {
			return err
		}
	}
	told, count, failed := o.report(cmd, "snapshots"), 0, 0
	for head, err := range due {
		if err != nil {
			return err
		}
		taken, err := s.takeOne(ctx, head)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("%s has a snapshot at version %d\n", whose(taken.Tenant, taken.AID), taken.SnapshotVersion)
		if taken.Error == "" {
			count++
		} else {
			failed++
			text = fmt.Sprintf("%s has got no snapshot: %s; `journal check` may tell more\n", whose(taken.Tenant, taken.AID), taken.Error)
		}
		if err := told.add(taken, text); err != nil {
			return err
		}
	}
	return told.end(failed == 0, fmt.Sprintf("%d snapshots taken\n", count), "taken", count, "failed", failed)
}

func (s *storeStation) one(ctx context.Context, id es.AggregateID) (iter.Seq2[es.AggregateHead, error], error) {
	if _, known := s.types[id.Type]; !known {
		return nil, fmt.Errorf("aggregates of type %q can't be loaded by this program; it knows %v", id.Type, s.types.names())
	}
	head, err := s.store.Gateway.Head(ctx, id)
	if err == nil && head.Version == 0 {
		err = errors.New("there is no such aggregate: check id, tenant and tables")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", id, err)
	}
	return func(yield func(es.AggregateHead, error) bool) {
		yield(es.AggregateHead{ID: id, Head: head}, nil)
	}, nil
}

// takeOne writes a snapshot. An aggregate that can't be loaded does not stop the others: taken has the error.
func (s *storeStation) takeOne(ctx context.Context, due es.AggregateHead) (taken dueSnapshot, err error) {
	taken = dueOf(due)
	err = s.types[due.ID.Type].TakeSnapshot(ctx, s.store.Gateway, due.ID, es.Settings{Logger: s.log})
	switch {
	case ctx.Err() != nil:
		return taken, context.Cause(ctx)
	case err != nil:
		taken.Error = err.Error()
		return taken, nil //nolint:nilerr // taken has it
	}
	head, err := s.store.Gateway.Head(ctx, due.ID)
	taken.Version, taken.SnapshotVersion = head.Version, head.SnapshotVersion
	return taken, err
}
