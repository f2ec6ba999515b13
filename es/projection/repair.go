package projection

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/threads/es"
	"example.com/threads/es/internal/seq"
)

// OweRepair implements [Sink]. When it returns nil, the need for a repair is stored, and [Projector.Run] makes one.
func (p *Projector) OweRepair(ctx context.Context) error {
	select {
	case p.owing <- struct{}{}:
		defer func() { <-p.owing }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := p.remember(ctx, p.registered(false)); err != nil {
		return err
	}
	p.losses++
	p.markDue()
	return nil
}

// RepairSince returns since when a repair is due; rows may be missing until it is done. Zero: no repair is due.
func (p *Projector) RepairSince() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.repairSince
}

func (p *Projector) markDue() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.repairSince.IsZero() {
		p.repairSince = p.options.Now()
	}
}

// RepairIfDue makes the repair that is due, if one is, and stores that none is due any more, unless another loss was
// reported since it began. Call it in a program that does not call [Projector.Run].
func (p *Projector) RepairIfDue(ctx context.Context) error {
	if p.RepairSince().IsZero() {
		return nil
	}
	p.owing <- struct{}{}
	losses := p.losses
	<-p.owing
	p.logger.InfoContext(ctx, "comparing the rows with the journal")
	_, err := p.Repair(ctx)
	p.owing <- struct{}{}
	defer func() { <-p.owing }()
	if err == nil && p.losses == losses {
		if err = p.remember(ctx, p.registered(true)); err == nil {
			p.mu.Lock()
			p.repairSince = time.Time{}
			p.mu.Unlock()
		}
	}
	if err != nil && ctx.Err() == nil {
		p.logger.WarnContext(ctx, "the repair from the journal failed and will be retried", "error", err)
	}
	return err
}

const (
	repairChunk   = 500 // aggregates
	repairWorkers = 4   // chunks that are compared at a time
)

// Repair compares every aggregate of the registered types with its position and applies the missing events. It deletes
// nothing. It may run beside everything else, be interrupted, and be repeated.
func (p *Projector) Repair(ctx context.Context) (total Outcome, err error) {
	began := p.options.Now()
	there := 0 // counted before the heads are listed: what comes meanwhile has a head
	for _, err := range p.positions(ctx) {
		if err != nil {
			return total, err
		}
		there++
	}
	var mu sync.Mutex
	aggregates, positions := 0, 0
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(repairWorkers)
	compare := func(heads []AtVersion) {
		group.Go(func() error {
			outcome, found, err := p.compare(groupCtx, heads)
			mu.Lock()
			defer mu.Unlock()
			total, aggregates, positions = total.plus(outcome), aggregates+len(heads), positions+found
			return err
		})
	}
	var chunk []AtVersion
	for head, headErr := range p.heads(groupCtx) {
		if err = headErr; err != nil {
			break
		}
		if chunk = append(chunk, head); len(chunk) == repairChunk {
			compare(chunk)
			chunk = nil
		}
	}
	if len(chunk) > 0 {
		compare(chunk)
	}
	err = cmp.Or(group.Wait(), err)
	if err == nil && there > positions && p.Drift().Ahead == 0 { // otherwise it is reported already
		err = p.lookForRowsAhead(ctx)
	}
	if err == nil {
		total.Repairs = 1
		p.logger.InfoContext(ctx, "the rows are what the journal says", "aggregates", aggregates, "events", total.Filled,
			"parked", total.Parked, "seconds", p.options.Now().Sub(began).Seconds())
	}
	p.options.Observe(total, 0, 0)
	return total, err
}

// compare applies the missing events of aggregates, and returns how many of them had a position before.
func (p *Projector) compare(ctx context.Context, heads []AtVersion) (outcome Outcome, positions int, err error) {
	versions, err := p.store.Versions(ctx, keysOf(heads, func(head AtVersion) es.AggregateID { return head.Key }))
	if err != nil {
		return outcome, 0, fmt.Errorf("read positions: %w", err)
	}
	var gaps []eventGap
	for _, head := range heads {
		after := versions[head.Key]
		if after > 0 {
			positions++
		}
		if after > head.Version {
			if _, err := p.lookAhead(ctx, AtVersion{Key: head.Key, Version: after}); err != nil {
				return outcome, positions, err
			}
		}
		if after < head.Version {
			gaps = append(gaps, eventGap{key: head.Key, after: after, target: head.Version, origin: fromJournal})
		}
	}
	outcome, err = p.fill(ctx, gaps, Changes{})
	return outcome, positions, err
}

// lookForRowsAhead looks for an aggregate with rows but no head.
func (p *Projector) lookForRowsAhead(ctx context.Context) error {
	for position, err := range p.positions(ctx) {
		if err != nil {
			return err
		}
		if ahead, err := p.lookAhead(ctx, position); err != nil || ahead {
			return err
		}
	}
	return nil
}

// heads yields the aggregates of the registered types that have a head. It ends after an error.
func (p *Projector) heads(ctx context.Context) iter.Seq2[AtVersion, error] {
	var all []iter.Seq2[AtVersion, error]
	for name := range p.handlers {
		all = append(all, p.headsOf(ctx, name))
	}
	return seq.Concat(all...)
}

// headsOf yields those of a type, of the tenants that are projected.
func (p *Projector) headsOf(ctx context.Context, name string) iter.Seq2[AtVersion, error] {
	return seq.Map(p.journal.Heads(ctx, name), func(head es.StoredAggregate) (AtVersion, error) {
		if !p.options.Tenants(head.ID.Tenant) {
			return AtVersion{}, seq.ErrSkip
		}
		return AtVersion{Key: head.ID, Version: head.Version}, nil
	})
}

const positionsPage = 500

// positions yields the aggregates of the registered types that have rows. It ends after an error.
func (p *Projector) positions(ctx context.Context) iter.Seq2[AtVersion, error] {
	return func(yield func(AtVersion, error) bool) {
		for after, more := (es.AggregateID{}), true; more; {
			page, err := p.store.Positions(ctx, after, positionsPage)
			if err != nil {
				yield(AtVersion{}, fmt.Errorf("list the positions: %w", err))
				return
			}
			for _, position := range page {
				after = position.Key
				if _, registered := p.handlers[after.Type]; registered && position.Version > 0 && !yield(position, nil) {
					return
				}
			}
			more = len(page) == positionsPage
		}
	}
}

// Ahead reports whether the journal lacks the event that a position is at. If the head alone does, it is Inconsistent.
func (p *Projector) Ahead(ctx context.Context, position AtVersion) (bool, error) {
	// Only a reader that claims to know events beyond the head is told that the head is wrong.
	ends, err := p.endsAt(ctx, position.Key, position.Version)
	if err == nil && ends {
		ends, err = p.endsAt(ctx, position.Key, position.Version-1)
	}
	return ends, err
}

// endsAt reports whether the journal has no event of an aggregate after the one with this number.
func (p *Projector) endsAt(ctx context.Context, key es.AggregateID, seqNr uint64) (bool, error) {
	for _, err := range p.eventsAfter(ctx, key, seqNr) {
		return false, err
	}
	return true, nil
}

// Fill brings the rows of aggregates that are not parked to the end of the journal, and returns the number of events.
func (p *Projector) Fill(ctx context.Context, keys ...es.AggregateID) (int, error) {
	var gaps []eventGap
	for _, key := range keys {
		gaps = append(gaps, eventGap{key: key, whole: true, origin: fromJournal})
	}
	outcome, err := p.fillAfterRows(ctx, gaps)
	return outcome.Filled, err
}

// Retract moves a position of another projection back to the journal's end if it is beyond that, and returns whether it
// is: after a restore to an earlier time, that projection would take the next events for known ones. It repeats none.
func (p *Projector) Retract(ctx context.Context, other Store, position AtVersion) (bool, error) {
	ahead, err := p.Ahead(ctx, position)
	if es.KindOf(err) == es.Inconsistent {
		return false, nil // the head is wrong; no event is known to be lost
	}
	if err != nil || !ahead || !p.options.Tenants(position.Key.Tenant) {
		return false, err
	}
	end, err := p.journal.Head(ctx, position.Key)
	if err != nil {
		return false, err
	}
	return true, p.retry(ctx, func() error {
		return other.Change(ctx, func(ctx context.Context, tx Tx) error {
			now, err := tx.Load(ctx, []es.AggregateID{position.Key})
			if err != nil || now[position.Key].Version != position.Version {
				return err
			}
			now[position.Key] = Position{end.Version, now[position.Key].Parked}
			return tx.Save(ctx, Changes{Positions: now, At: p.options.Now()})
		})
	})
}
