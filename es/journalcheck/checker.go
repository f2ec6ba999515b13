package journalcheck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/threads/es"
)

// Store is an event store with maintenance access.
type Store interface {
	es.Reader
	es.Maintainer
}

// Decoder decodes the payloads of an aggregate type.
type Decoder struct {
	// Event returns why an event can't be decoded.
	Event func(payload []byte) error
	// Snapshot returns whose state a snapshot is, and after which event.
	Snapshot func(payload []byte) (id string, version uint64, err error)
}

// Checker checks and repairs. It is safe for concurrent use.
type Checker struct {
	store    Store
	decoders map[string]Decoder
}

// New returns a Checker of store. Events and snapshots are decoded by aggregate type; those of other types are not.
func New(store Store, decoders map[string]Decoder) *Checker { return &Checker{store, decoders} }

// ErrUnknown means that nothing is stored for an aggregate.
var ErrUnknown = errors.New("neither events nor a head nor a snapshot are stored under this id: " +
	"check id, tenant, tables and SHARD_COUNT")

const (
	maxLooks    = 6
	betweenLook = 100 * time.Millisecond // longer than a program's write takes
	workers     = 8                      // aggregates checked concurrently
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
		found := now.all()
		switch {
		case now.empty():
			return nil, nil, fmt.Errorf("%s: %w", id, ErrUnknown)
		case len(found) == 0:
			return now, nil, nil
		case looks > 1 && (looks == maxLooks || slices.Equal(sorted(found), sorted(before))):
			return now, common(found, before), nil
		}
		before = found
		select {
		case <-time.After(betweenLook):
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

// All checks every aggregate that wanted accepts, concurrently and in any order, and calls tell for one after the
// other. A nil wanted accepts all. It stops at the first error, also of tell.
func (c *Checker) All(
	ctx context.Context, wanted func(es.AggregateID) bool, tell func(es.AggregateID, []Finding) error,
) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers + 1)
	var turn sync.Mutex
	group.Go(func() error {
		for stored, err := range c.store.StoredAggregates(ctx) {
			if err != nil {
				return err
			}
			if wanted != nil && !wanted(stored.ID) {
				continue
			}
			group.Go(func() error {
				found, err := c.stored(ctx, stored)
				if err != nil {
					return err
				}
				turn.Lock()
				defer turn.Unlock()
				return tell(stored.ID, found)
			})
		}
		return nil
	})
	return group.Wait()
}

func (c *Checker) stored(ctx context.Context, stored es.StoredAggregate) ([]Finding, error) {
	elsewhere := findings{id: stored.ID}
	for _, fault := range stored.Faults {
		elsewhere.add(misplaced, fault.Expected, fault.Found,
			"check that SHARD_COUNT is that of the programs that wrote it; if so, another program wrote the item: move or delete it by hand",
			"it is stored where no program reads it: its %s is wrong", fault.Field)
	}
	if len(stored.Faults) > 0 {
		return elsewhere.all(), nil
	}
	found, err := c.Aggregate(ctx, stored.ID)
	if errors.Is(err, ErrUnknown) {
		return nil, nil // deleted since it was listed
	}
	return found, err
}

func sorted(found []Finding) []Finding {
	return slices.SortedFunc(slices.Values(found), func(a, b Finding) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}

// common returns the findings of now that are also in before.
func common(now, before []Finding) []Finding {
	var both []Finding
	for _, finding := range now {
		if slices.Contains(before, finding) {
			both = append(both, finding)
		}
	}
	return both
}
