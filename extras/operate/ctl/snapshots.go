package ctl

import (
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v3"

	"example.com/threads/es"
)

const aboutDue = `Lists the aggregates whose version is more than SNAPSHOT_EVERY ahead of their latest snapshot. Nothing is wrong with them:
loading them takes longer. On DynamoDB it reads the whole snapshot table.`

const aboutTake = `Writes the snapshot of one aggregate, or all snapshots that are due. It may run beside the
programs.`

func (o *operator) snapshots() *cli.Command {
	return o.group("snapshots", "lists aggregates with a snapshot due, and writes it",
		o.command(eventStore, nil, (*call).due, &cli.Command{
			Name: "due", Usage: "lists the aggregates with a snapshot due", Description: aboutDue, Flags: []cli.Flag{tenantFlag},
		}),
		o.command(eventStore, nil, (*call).take, &cli.Command{
			Name: "take", Usage: "writes the snapshots that are due", ArgsUsage: "[AID]", Description: aboutTake, Flags: []cli.Flag{tenantFlag},
		}))
}

// dueSnapshot is an aggregate whose snapshot is due, or was written.
type dueSnapshot struct {
	Tenant          string `json:"tenant"`
	AID             string `json:"aid"`
	Version         uint64 `json:"version"`
	SnapshotVersion uint64 `json:"snapshot_version"`
	Error           string `json:"error,omitempty"` // why writing failed
}

// addDue reports an aggregate: why writing failed, if it did, and a text.
func (c *call) addDue(head es.StoredAggregate, failure, format string, args ...any) error {
	due := dueSnapshot{head.ID.Tenant.String(), head.ID.String(), head.Version, head.SnapshotVersion, failure}
	return c.add(due, whose(head.ID)+fmt.Sprintf(format, args...)+"\n")
}

// eachDue calls do for the aggregate that the argument names, or for those of known types that are more than
// SNAPSHOT_EVERY events ahead of their snapshot. `journal check` reports wrong heads.
func (c *call) eachDue(ctx context.Context, do func(es.AnyAggregate, es.StoredAggregate) error) error {
	if c.id != (es.AggregateID{}) {
		return c.ofArgument(ctx, do)
	}
	for _, kind := range c.Types {
		for head, err := range c.store.Gateway.Heads(ctx, kind.Type()) {
			switch {
			case err != nil:
			case !c.wanted(head.ID):
			case head.Version == 0:
				err = fmt.Errorf("the head of %s can't be read: `journal check` says why", head.ID)
			case head.Version > head.SnapshotVersion+uint64(c.SnapshotEvery):
				err = do(kind, head)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *call) due(ctx context.Context) error {
	count := 0
	err := c.eachDue(ctx, func(_ es.AnyAggregate, head es.StoredAggregate) error {
		count++
		return c.addDue(head, "", " is due: version %d, latest snapshot %d", head.Version, head.SnapshotVersion)
	})
	if err != nil {
		return err
	}
	return c.end(true, "snapshots", map[string]any{"due": count, "failed": 0}, fmt.Sprintf("%d snapshots due\n", count))
}

// take goes on after an aggregate that can't be loaded, and reports it.
func (c *call) take(ctx context.Context) error {
	count, failed := 0, 0
	err := c.eachDue(ctx, func(kind es.AnyAggregate, head es.StoredAggregate) error {
		failure := kind.TakeSnapshot(ctx, c.store.Gateway, head.ID, es.Settings{Logger: c.log})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if failure != nil {
			failed++
			return c.addDue(head, failure.Error(), " has got no snapshot: %v; `journal check` may tell more", failure)
		}
		var err error
		if head.Head, err = c.store.Gateway.Head(ctx, head.ID); err != nil {
			return err
		}
		count++
		return c.addDue(head, "", " has a snapshot at version %d", head.SnapshotVersion)
	})
	if err != nil {
		return err
	}
	return c.end(failed == 0, "snapshots", map[string]any{"taken": count, "failed": failed}, fmt.Sprintf("%d snapshots taken\n", count))
}

// ofArgument calls do for the aggregate that the argument names.
func (c *call) ofArgument(ctx context.Context, do func(es.AnyAggregate, es.StoredAggregate) error) error {
	at := slices.IndexFunc(c.Types, func(kind es.AnyAggregate) bool { return kind.Type() == c.id.Type })
	if at < 0 {
		return fmt.Errorf("%s: aggregates of type %q can't be loaded by this program", c.id, c.id.Type)
	}
	head, err := c.store.Gateway.Head(ctx, c.id)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", c.id, err)
	case head.Version == 0:
		return fmt.Errorf("%s: there is no such aggregate: check id, tenant and tables", c.id)
	}
	return do(c.Types[at], es.StoredAggregate{ID: c.id, Head: head})
}
