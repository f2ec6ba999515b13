package projection

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/threads/es"
)

const (
	repairChunk    = 500 // aggregates
	repairProgress = 5 * time.Second
)

// OweRepair is called by a source that may have lost records. When it returns nil, the need for a repair is stored and
// [Projector.Run] makes one, so the source may move past the loss.
func (p *Projector) OweRepair(ctx context.Context) error {
	p.owing.Lock()
	defer p.owing.Unlock()
	if err := p.remember(ctx, p.registered(false)); err != nil {
		return err
	}
	p.losses++
	p.repairDue()
	return nil
}

// RepairSince returns since when a repair is due; rows may be missing until it is done. Zero: no repair is due.
func (p *Projector) RepairSince() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.repairSince
}

func (p *Projector) repairDue() {
	p.mu.Lock()
	if p.repairSince.IsZero() {
		p.repairSince = p.options.Now()
	}
	p.mu.Unlock()
	select {
	case p.repairs <- struct{}{}:
	default: // one is already requested
	}
}

// repairWhenDue runs requested repairs until ctx ends, and retries failed ones.
func (p *Projector) repairWhenDue(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.repairs:
		}
		for p.repairOwed(ctx) != nil && es.Wait(ctx, repairAgain) == nil {
		}
	}
}

// repairOwed runs a repair and stores that none is due any more.
func (p *Projector) repairOwed(ctx context.Context) error {
	p.owing.Lock()
	losses := p.losses
	p.owing.Unlock()
	p.logger.InfoContext(ctx, "comparing the rows with the journal")
	_, err := p.Repair(ctx)
	if err == nil {
		err = p.settle(ctx, losses)
	}
	if err != nil && ctx.Err() == nil {
		p.logger.WarnContext(ctx, "the repair from the journal failed and will be retried", "error", err)
	}
	return err
}

// settle stores that no repair is due any more, unless another loss was reported since the repair began.
func (p *Projector) settle(ctx context.Context, losses int) error {
	p.owing.Lock()
	defer p.owing.Unlock()
	if p.losses != losses {
		return nil // another repair is already requested
	}
	if err := p.remember(ctx, p.registered(true)); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.repairSince = time.Time{}
	return nil
}

// Repair compares every aggregate of the registered types with its position and applies the missing events. It deletes
// nothing. It may run beside everything else, be interrupted, and be repeated.
//
// Errors are those of [Projector.Project], and the journal's.
func (p *Projector) Repair(ctx context.Context) (Outcome, error) {
	work := &repair{projector: p, begun: p.options.Now(), reported: p.options.Now()}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(p.options.RepairWorkers)
	walkErr := work.walk(groupCtx, func(heads []Head) { group.Go(func() error { return work.compare(groupCtx, heads) }) })
	err := group.Wait()
	if err == nil {
		err = walkErr
	}
	if err == nil {
		err = work.lookForRowsAhead(ctx)
	}
	if err == nil {
		work.outcome.Repairs = 1
		work.report(ctx, "the rows are what the journal says")
	}
	p.options.Observe(work.outcome)
	return work.outcome, err
}

// repair is a repair in progress.
type repair struct {
	projector *Projector
	begun     time.Time

	mu         sync.Mutex
	reported   time.Time
	aggregates int // compared so far
	behind     int // of them, those with missing events
	positions  int // of them, those that had a position
	outcome    Outcome
}

// walk calls do with the heads of all registered types, in chunks.
func (r *repair) walk(ctx context.Context, do func([]Head)) error {
	var chunk []Head
	for name := range r.projector.handlers {
		for head, err := range r.projector.journal.Heads(ctx, name) {
			if err != nil {
				return fmt.Errorf("list the aggregates of type %s: %w", name, err)
			}
			if chunk = append(chunk, head); len(chunk) == repairChunk {
				do(chunk)
				chunk = nil
			}
		}
	}
	if len(chunk) > 0 {
		do(chunk)
	}
	return nil
}

// compare applies the missing events of the aggregates whose rows are behind their heads.
func (r *repair) compare(ctx context.Context, heads []Head) error {
	keys := make([]es.AggregateID, len(heads))
	for i, head := range heads {
		keys[i] = head.Key
	}
	versions, err := r.projector.store.Versions(ctx, keys)
	if err != nil {
		return fmt.Errorf("read positions: %w", err)
	}
	var gaps []eventGap
	positions := 0
	for _, head := range heads {
		after := versions[head.Key]
		if after > 0 {
			positions++
		}
		if after > head.Version {
			if _, err := r.projector.lookAhead(ctx, Head{Key: head.Key, Version: after}); err != nil {
				return err
			}
		}
		if after < head.Version {
			gaps = append(gaps, eventGap{key: head.Key, after: after, target: head.Version, origin: fromJournal})
		}
	}
	behind := len(gaps)
	outcome, err := r.projector.fill(ctx, gaps, withoutMark)
	r.count(ctx, len(heads), behind, positions, outcome)
	return err
}

// lookForRowsAhead looks for an aggregate with rows but no head, if there are more positions than heads.
func (r *repair) lookForRowsAhead(ctx context.Context) error {
	p, there := r.projector, 0
	if p.Drift().Ahead > 0 {
		return nil // already reported
	}
	positions := func(do func(Head) (more bool, err error)) error {
		for page, err := range positionPages(ctx, p.store) {
			if err != nil {
				return err
			}
			for _, position := range page {
				if _, registered := p.handlers[position.Key.Type]; !registered || position.Version == 0 {
					continue
				}
				if more, err := do(position); err != nil || !more {
					return err
				}
			}
		}
		return nil
	}
	if err := positions(func(Head) (bool, error) { there++; return true, nil }); err != nil || there <= r.positions+r.behind {
		return err
	}
	return positions(func(position Head) (bool, error) {
		ahead, err := p.lookAhead(ctx, position)
		return !ahead, err
	})
}

func (r *repair) count(ctx context.Context, aggregates, behind, positions int, outcome Outcome) {
	r.mu.Lock()
	r.aggregates += aggregates
	r.behind += behind
	r.positions += positions
	r.outcome = r.outcome.plus(outcome)
	now := r.projector.options.Now()
	due := now.Sub(r.reported) >= repairProgress
	if due {
		r.reported = now
	}
	r.mu.Unlock()
	if due {
		r.report(ctx, "the rows are being compared with the journal")
	}
}

// report logs the progress.
func (r *repair) report(ctx context.Context, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.projector.logger.InfoContext(ctx, text, "aggregates", r.aggregates, "behind", r.behind, "events", r.outcome.Filled,
		"parked", r.outcome.Parked, "seconds", r.projector.options.Now().Sub(r.begun).Seconds())
}
