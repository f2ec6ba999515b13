package main

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/urfave/cli/v3"

	"example.com/threads/interfaceadaptor/eventstore"
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
				Flags: []cli.Flag{tenantFlag, jsonFlag}, Action: o.due,
			},
			{
				Name: "take", Usage: "writes the snapshots that are due", ArgsUsage: "[AID]", Description: aboutTake,
				Flags: []cli.Flag{tenantFlag, jsonFlag}, Action: o.take,
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

func dueOf(head eventstore.AggregateHead) dueSnapshot {
	return dueSnapshot{Tenant: head.ID.Tenant, AID: head.ID.String(), Version: head.Version, SnapshotVersion: head.SnapshotVersion}
}

// lacking yields the aggregates of known types that are more than SNAPSHOT_EVERY events ahead of their snapshot.
func (s *openStation) lacking(ctx context.Context, cmd *cli.Command) iter.Seq2[eventstore.AggregateHead, error] {
	least := uint64(s.settings.snapshotEvery) + 1
	wanted := wanted(cmd)
	return func(yield func(eventstore.AggregateHead, error) bool) {
		for _, name := range s.types.names() {
			heads := s.store.Gateway.Heads(ctx, name)
			if finder, able := s.store.Gateway.(eventstore.DueFinder); able {
				heads = finder.SnapshotsDue(ctx, name, least)
			}
			for head, err := range heads {
				if err != nil {
					yield(head, fmt.Errorf("%w; `journal check` lists heads that can't be read", err))
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

func (o *operator) due(ctx context.Context, cmd *cli.Command) error {
	if cmd.NArg() > 0 {
		return wrong(cmd, "the command takes no argument")
	}
	s, closing, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer closing()
	told := o.tellSnapshots(cmd, "due")
	for head, err := range s.lacking(ctx, cmd) {
		if err == nil {
			err = told.add(dueOf(head), "is due: version %d, latest snapshot %d", head.Version, head.SnapshotVersion)
		}
		if err != nil {
			return err
		}
	}
	return told.end()
}

func (o *operator) take(ctx context.Context, cmd *cli.Command) error {
	s, closing, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer closing()
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
	told := o.tellSnapshots(cmd, "taken")
	for head, err := range due {
		if err != nil {
			return err
		}
		if err := s.takeOne(ctx, head, told); err != nil {
			return err
		}
	}
	return told.end()
}

func (s *openStation) one(ctx context.Context, id eventstore.AggregateID) (iter.Seq2[eventstore.AggregateHead, error], error) {
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
	return func(yield func(eventstore.AggregateHead, error) bool) {
		yield(eventstore.AggregateHead{ID: id, Head: head}, nil)
	}, nil
}

// takeOne writes a snapshot. An aggregate that can't be loaded does not stop the others.
func (s *openStation) takeOne(ctx context.Context, due eventstore.AggregateHead, told *snapshotsTold) error {
	err := s.types[due.ID.Type].take(ctx, due.ID)
	if ctx.Err() != nil {
		return err
	}
	taken := dueOf(due)
	if err != nil {
		told.failed++
		taken.Error = err.Error()
		return told.add(taken, "has got no snapshot: %v; %s", err, "`journal check` may tell more")
	}
	head, err := s.store.Gateway.Head(ctx, due.ID)
	if err != nil {
		return err
	}
	taken.Version, taken.SnapshotVersion = head.Version, head.SnapshotVersion
	return told.add(taken, "has a snapshot at version %d", head.SnapshotVersion)
}

// snapshotsTold prints aggregates as they are found.
type snapshotsTold struct {
	o             *operator
	done          string
	list          *list // nil: as text
	count, failed int
}

func (o *operator) tellSnapshots(cmd *cli.Command, done string) *snapshotsTold {
	told := &snapshotsTold{o: o, done: done}
	if cmd.Bool(jsonFlag.Name) {
		told.list = beginList(o.stdout, "snapshots")
	}
	return told
}

func (t *snapshotsTold) add(due dueSnapshot, words string, args ...any) error {
	t.count++
	if t.list != nil {
		return t.list.add(due)
	}
	_, err := fmt.Fprintf(t.o.stdout, "%s %s\n", whose(due.Tenant, due.AID), fmt.Sprintf(words, args...))
	return err
}

func (t *snapshotsTold) end() error {
	var err error
	if t.list != nil {
		err = t.list.end(t.done, t.count-t.failed, "failed", t.failed)
	} else {
		_, err = fmt.Fprintf(t.o.stdout, "%d snapshots %s\n", t.count-t.failed, t.done)
	}
	if err == nil && t.failed > 0 {
		return errFound
	}
	return err
}

// whose names an aggregate for people.
func whose(tenant, aid string) string {
	if tenant == "" {
		return aid
	}
	return aid + " of tenant " + tenant
}
