package journalcheck

import (
	"context"
	"errors"
	"fmt"

	"example.com/threads/es"
)

// Repair is what a repair did, or would do.
type Repair struct {
	Steps []string  // what was done, as text; empty: nothing to do
	Left  []Finding // what is still wrong, or will be
}

// maxRepairs is how often a repair starts over because a program changed the head meanwhile.
const maxRepairs = 5

// Repair corrects the head from the journal and deletes unusable snapshots. With dryRun it only reports. If events are
// missing it does nothing: a head over a gap would let commands build on an incomplete history.
func (c *Checker) Repair(ctx context.Context, id es.AggregateID, dryRun bool) (Repair, error) {
	for attempt := 1; ; attempt++ {
		repair, err := c.repair(ctx, id, dryRun)
		if !errors.Is(err, es.ErrConflict) || attempt == maxRepairs {
			return repair, err
		}
	}
}

func (c *Checker) repair(ctx context.Context, id es.AggregateID, dryRun bool) (Repair, error) {
	seen, found, err := c.sure(ctx, id)
	if err != nil {
		return Repair{}, err
	}
	plan := planOf(seen, found)
	if dryRun || len(plan.steps) == 0 {
		return Repair{plan.steps, plan.left}, nil
	}
	if plan.moveHead {
		if err := c.store.ReplaceHead(ctx, id, seen.head, plan.head); err != nil {
			return Repair{}, err
		}
	}
	for _, version := range plan.drop { // once nothing points to them
		if err := c.store.DropSnapshot(ctx, id, version); err != nil {
			return Repair{}, err
		}
	}
	left, err := c.Aggregate(ctx, id)
	return Repair{plan.steps, left}, err
}

// repairPlan is the list of changes of a repair.
type repairPlan struct {
	steps    []string
	moveHead bool
	head     es.Head
	drop     []uint64 // snapshots
	left     []Finding
}

func planOf(seen *look, found []Finding) repairPlan {
	var p repairPlan
	kinds := map[string]bool{}
	for _, finding := range found {
		kinds[finding.Kind] = true
		if !finding.Repairable {
			p.left = append(p.left, finding)
		}
	}
	if kinds[eventsMissing] || seen.last() == 0 {
		return repairPlan{left: found}
	}
	for _, snapshot := range seen.snapshots {
		switch {
		case snapshot.Version > seen.last() && kinds[snapshotAhead]:
			p.steps = append(p.steps, fmt.Sprintf("delete snapshot %d, which is ahead of the journal", snapshot.Version))
		case snapshot.Version <= seen.last() && snapshot.Broken != "" && kinds[snapshotBroken]:
			p.steps = append(p.steps, fmt.Sprintf("delete snapshot %d, which can't be used", snapshot.Version))
		default:
			continue
		}
		p.drop = append(p.drop, snapshot.Version)
	}
	p.moveHead = kinds[headMissing] || kinds[headBehind] || kinds[headAhead] || kinds[headUnreadable] || kinds[snapshotPointer]
	if p.moveHead {
		p.head = es.Head{Version: seen.last(), SnapshotVersion: seen.pointer()}
		p.steps = append([]string{fmt.Sprintf("write the head: version %d, which was %s, and %s, which was %s", p.head.Version,
			was(seen.head, "version", seen.head.Version), pointerText(p.head.SnapshotVersion), was(seen.head, "snapshot_version", seen.head.SnapshotVersion))}, p.steps...)
	}
	return p
}

// was formats a field of the head before the repair.
func was(head es.StoredHead, field string, value uint64) string {
	if !head.Exists {
		return "missing"
	}
	for _, fault := range head.Faults {
		if fault.Field == field {
			return fault.Found
		}
	}
	return decimal(value)
}
