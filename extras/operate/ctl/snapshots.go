package ctl

import (
	"context"
	"errors"
	"fmt"

	"example.com/threads/es"
	"example.com/threads/extras/operate"
)

type due struct {
	aggregates
}

func (due) Help() string {
	return `Lists the aggregates whose version is more than SNAPSHOT_EVERY ahead of their latest snapshot. Nothing is
wrong with them: loading them takes longer. On DynamoDB it reads the whole snapshot table.`
}

type take struct {
	some
}

func (take) Help() string {
	return `Writes the snapshot of one aggregate, or all snapshots that are due. It may run beside the
programs.`
}

// dueSnapshot is an aggregate whose snapshot is due, or was written.
type dueSnapshot struct {
	operate.Named
	es.Head
	Error string `json:"error,omitempty"` // why writing failed
}

// eachDue calls do for the aggregate that is named, or for those of known types that are more than SNAPSHOT_EVERY
// events ahead of their snapshot. `journal check` reports wrong heads.
func (c *call) eachDue(ctx context.Context, of aggregates, do func(es.AnyAggregate, es.StoredAggregate) error) error {
	isNamed := of.id != (es.AggregateID{})
	for _, kind := range c.Types {
		switch {
		case isNamed && kind.Type() != of.id.Type:
			continue
		case isNamed:
			head, err := c.store.Gateway.Head(ctx, of.id)
			if err == nil && head.Version == 0 {
				err = errors.New("there is no such aggregate: check id, tenant and tables")
			}
			if err != nil {
				return fmt.Errorf("%s: %w", of.id, err)
			}
			return do(kind, es.StoredAggregate{ID: of.id, Head: head})
		}
		for head, err := range c.store.Gateway.Heads(ctx, kind.Type()) {
			switch {
			case err != nil:
			case !of.have(head.ID):
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
	if isNamed {
		return fmt.Errorf("%s: aggregates of type %q can't be loaded by this program", of.id, of.id.Type)
	}
	return nil
}

// Run lists what is due.
func (cmd *due) Run(ctx context.Context, c *call) error {
	count := 0
	err := c.eachDue(ctx, cmd.aggregates, func(_ es.AnyAggregate, head es.StoredAggregate) error {
		count++
		return c.add("snapshots", dueSnapshot{operate.Name(head.ID), head.Head, ""})
	})
	if err != nil {
		return err
	}
	return c.end(true, "snapshots", map[string]any{"due": count, "failed": 0})
}

// Run writes what is due. It goes on after an aggregate that can't be loaded, and reports it.
func (cmd *take) Run(ctx context.Context, c *call) error {
	count, failed := 0, 0
	err := c.eachDue(ctx, cmd.aggregates, func(kind es.AnyAggregate, head es.StoredAggregate) error {
		failure := kind.TakeSnapshot(ctx, c.store.Gateway, head.ID, es.Settings{Logger: c.log})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if failure != nil {
			failed++
			return c.add("snapshots", dueSnapshot{operate.Name(head.ID), head.Head, failure.Error() + "; `journal check` may tell more"})
		}
		var err error
		if head.Head, err = c.store.Gateway.Head(ctx, head.ID); err != nil {
			return err
		}
		count++
		return c.add("snapshots", dueSnapshot{operate.Name(head.ID), head.Head, ""})
	})
	if err != nil {
		return err
	}
	return c.end(failed == 0, "snapshots", map[string]any{"taken": count, "failed": failed})
}
