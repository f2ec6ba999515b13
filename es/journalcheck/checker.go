// Package journalcheck finds what is wrong in an event store, and repairs heads and snapshots that contradict the
// journal. No event is ever changed. It works beside running programs, whose writes can look wrong for a moment: it
// reports only what it found twice. [New] takes the store; All or Aggregate return findings, each with what to do next,
// and Repair does it for one aggregate.
package journalcheck

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/internal/seq"
)

// Checker checks and repairs. It is safe for concurrent use.
type Checker struct {
	// RepairBy names what repairs an aggregate, such as a command, for [Finding].Next. Default: "a repair".
	RepairBy func(es.AggregateID) string

	store es.Maintainer
	types map[string]es.AnyAggregate
}

// New returns a Checker of store. It decodes the events and snapshots of these types.
func New(store es.Maintainer, types ...es.AnyAggregate) *Checker {
	c := &Checker{func(es.AggregateID) string { return "a repair" }, store, map[string]es.AnyAggregate{}}
	for _, each := range types {
		c.types[each.Type()] = each
	}
	return c
}

// ErrUnknown means that nothing is stored for an aggregate.
var ErrUnknown = errors.New("neither events nor a head nor a snapshot are stored under this id: " +
	"check id, tenant, tables and the number of shards")

const (
	maxLooks    = 6
	betweenLook = 100 * time.Millisecond // longer than a program's write takes
	workers     = 8                      // aggregates checked concurrently
	maxRepairs  = 5                      // attempts of a repair while a program changes the head
)

// Aggregate checks one aggregate. It fails with ErrUnknown if nothing is stored.
func (c *Checker) Aggregate(ctx context.Context, id es.AggregateID) ([]Finding, error) {
	_, found, err := c.sure(ctx, id)
	return found, err
}

// sure checks until two checks agree, so that writes in progress are not reported. If an aggregate keeps changing, it
// returns what the last two checks have in common.
func (c *Checker) sure(ctx context.Context, id es.AggregateID) (*look, []Finding, error) {
	var before []Finding
	for looks := 1; ; looks++ {
		now, err := c.look(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		found := now.told
		both := slices.DeleteFunc(slices.Clone(found), func(f Finding) bool { return !slices.Contains(before, f) })
		switch {
		case now.last == 0 && !now.head.Exists && len(now.snapshots) == 0:
			return nil, nil, fmt.Errorf("%s: %w", id, ErrUnknown)
		case len(found) == 0:
			return now, nil, nil
		case looks == maxLooks || len(both) == len(found) && len(both) == len(before):
			return now, both, nil
		}
		before = found
		if err := es.Wait(ctx, betweenLook); err != nil {
			return nil, nil, err
		}
	}
}

// All checks every aggregate that wanted, if not nil, accepts, and tells one after the other, until there is an error.
func (c *Checker) All(
	ctx context.Context, wanted func(es.AggregateID) bool, tell func(es.AggregateID, []Finding) error,
) error {
	return seq.Each(ctx, workers, func(ctx context.Context) iter.Seq2[es.StoredAggregate, error] {
		return seq.Where(c.store.StoredAggregates(ctx), func(stored es.StoredAggregate) bool { return wanted == nil || wanted(stored.ID) })
	}, c.stored, func(stored es.StoredAggregate, found []Finding) error { return tell(stored.ID, found) })
}

func (c *Checker) stored(ctx context.Context, stored es.StoredAggregate) ([]Finding, error) {
	elsewhere := look{id: stored.ID}
	for _, fault := range stored.Faults {
		elsewhere.add("misplaced", nothing, fault.Expected, fault.Found,
			"check that the number of shards is that of the programs that wrote it; if so, another program wrote the item: move or delete it by hand",
			"it is stored where no program reads it: its %s is wrong", fault.Field)
	}
	if len(stored.Faults) > 0 {
		return elsewhere.told, nil
	}
	found, err := c.Aggregate(ctx, stored.ID)
	switch {
	case errors.Is(err, ErrUnknown):
		return nil, nil // deleted since it was listed
	case errors.Is(err, es.ErrDamaged): // the others are checked all the same
		elsewhere.add("events_unreadable", nothing, "events that can be read", err.Error(),
			"put a copy of the file, or a backup of the store, in its place, and check again", "its events can't be read")
		return elsewhere.told, nil
	}
	return found, err
}

// Repair corrects the head from the journal and deletes unusable snapshots. It returns what it did, or with dryRun
// would do, and what is still wrong. If events are missing it does nothing: commands would build on a gap.
func (c *Checker) Repair(ctx context.Context, id es.AggregateID, dryRun bool) (steps []string, left []Finding, err error) {
	for range maxRepairs {
		if steps, left, err = c.repair(ctx, id, dryRun); !errors.Is(err, es.ErrConflict) {
			break
		}
	}
	return steps, left, err
}

func (c *Checker) repair(ctx context.Context, id es.AggregateID, dryRun bool) (steps []string, left []Finding, err error) {
	seen, found, err := c.sure(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	head := es.Head{Version: seen.last, SnapshotVersion: seen.pointer()}
	if !slices.ContainsFunc(found, func(f Finding) bool { return f.Kind == headAhead }) {
		head.Version = max(head.Version, seen.head.Version) // commands were accepted since the journal was read
	}
	var why []string // the head is written
	var drop []uint64
	for _, finding := range found {
		switch {
		case !finding.Repairable:
			left = append(left, finding)
		case finding.fix == newHead:
			why = append(why, finding.What+" ("+finding.Found+")")
		default:
			drop = append(drop, uint64(finding.fix))
			steps = append(steps, fmt.Sprintf("delete snapshot %d: %s", finding.fix, finding.What))
		}
	}
	if len(why) > 0 {
		steps = slices.Insert(steps, 0, fmt.Sprintf("write the head, version %d and %s: %s", head.Version, pointerText(head.SnapshotVersion), strings.Join(why, ", ")))
	}
	if dryRun || len(steps) == 0 {
		return steps, left, nil
	}
	if len(why) > 0 {
		if err := c.store.ReplaceHead(ctx, id, seen.head, head); err != nil {
			return nil, nil, err
		}
	}
	for _, version := range drop { // once nothing points to them
		if err := c.store.DropSnapshot(ctx, id, version); err != nil {
			return nil, nil, err
		}
	}
	left, err = c.Aggregate(ctx, id)
	return steps, left, err
}
