package projection

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/internal/seq"
)

// Drift is the result of [Projector.Watch]: rows that differ from the journal.
type Drift struct {
	Wrong   int            // aggregates with different rows found so far; maxDrift and one that is ahead are counted
	Checked int            // comparisons made so far
	Ahead   int            // those of Wrong whose rows have events that the journal, perhaps restored, lacks
	First   es.AggregateID // one of those ahead
}

const (
	maxDrift      = 1000
	driftEvents   = 500              // that count as one aggregate
	maxTicks      = 500              // that one aggregate takes at most: a wrong head may say any version
	driftAgain    = 10 * time.Second // interval of checking wrong aggregates again
	behindFor     = time.Minute      // after which no source is expected to bring what rows lack
	afterACycle   = 5 * time.Second
	afterAFault   = 30 * time.Second
	verifyWorkers = 4 // aggregates that are verified concurrently, each in its own transaction
)

// Drift returns what has been found so far.
func (p *Projector) Drift() Drift {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := Drift{Wrong: len(p.wrong), Checked: p.checked}
	for key, ahead := range p.wrong {
		if ahead {
			found.Ahead, found.First = found.Ahead+1, key
		}
	}
	return found
}

// ForgetDrift clears the findings after the rows were replaced.
func (p *Projector) ForgetDrift() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.wrong)
}

// note records the result of a comparison, and logs what is new.
func (p *Projector) note(ctx context.Context, key es.AggregateID, found Verified) {
	p.mu.Lock()
	first := !slices.Contains(slices.Collect(maps.Values(p.wrong)), true)
	wasAhead, counted := p.wrong[key]
	before := len(p.wrong)
	p.checked++
	if len(found.Differences) == 0 {
		delete(p.wrong, key)
	} else if counted || before < maxDrift || found.ahead && first { // which asks for a rebuild
		p.wrong[key] = found.ahead
	}
	news := len(p.wrong) > before || found.ahead && !wasAhead
	p.mu.Unlock()
	if !news || found.ahead && !first {
		return
	}
	d := found.Differences[0]
	message := "rows differ from the journal: repair or rebuild them"
	switch {
	case found.Contradicted: // an operator must repair the head, and new rows would not help
		message = "head and journal contradict each other: repair the head"
	case found.ahead:
		message = "the rows are ahead of the journal: the event store was restored to an earlier time; rebuild the rows, " +
			"or set REBUILD=auto to have it done"
	}
	p.logger.ErrorContext(ctx, message, "aggregate", key.String(), "tenant", key.Tenant.String(), "row", d.Row, "what", d.What,
		"expected", d.Expected, "found", d.Found, "differences", len(found.Differences)+found.More)
}

// lookAhead notes whether the rows of an aggregate are ahead of the journal, or its head is wrong.
func (p *Projector) lookAhead(ctx context.Context, position AtVersion) (ahead bool, err error) {
	ahead, err = p.Ahead(ctx, position)
	switch {
	case es.KindOf(err) == es.Inconsistent:
		p.note(ctx, position.Key, Verified{Contradicted: true, Differences: []Difference{contradiction(position.Key, err)}})
		return false, nil
	case err == nil && ahead:
		p.note(ctx, position.Key, Verified{ahead: true, Differences: []Difference{claim(position, "an earlier one")}})
	}
	return ahead, err
}

// Watch verifies all aggregates, one after the other, in cycles, until ctx ends; see [Projector.Drift]. Rows that stay
// behind for a minute get the events that they lack: no source brings those any more. Otherwise it changes nothing. It
// reads a limited number of aggregates per second, of which each 500 events count as one. Run it in a program that does
// not answer queries.
func (p *Projector) Watch(ctx context.Context, perSecond int) {
	look := func(key es.AggregateID) (Verified, error) {
		found, err := p.Verify(ctx, key)
		if err == nil {
			p.note(ctx, key, found)
		}
		return found, err
	}
	tick := time.Second / time.Duration(perSecond)
	var again sync.WaitGroup
	defer again.Wait()
	again.Go(func() {
		for es.Wait(ctx, driftAgain) == nil {
			p.mu.Lock()
			known := slices.Collect(maps.Keys(p.wrong))
			p.mu.Unlock()
			for _, key := range known {
				if es.Wait(ctx, tick) == nil {
					_, _ = look(key) // the cycle meets the error, too
				}
			}
		}
	})
	pace := func(events uint64) error {
		return es.Wait(ctx, tick*time.Duration(1+min(events/driftEvents, maxTicks)))
	}
	type standstill struct {
		version uint64
		since   time.Time
	}
	var before, behind map[es.AggregateID]standstill // rows that lacked events, in the last cycle and in this
	check := func(key es.AggregateID) (Verified, error) {
		found, err := look(key)
		if err == nil && found.Behind {
			at, known := before[key]
			if !known || at.version != found.version {
				at = standstill{found.version, time.Now()}
			}
			if time.Since(at.since) >= behindFor {
				err = p.catchUp(ctx, key)
			} else if len(behind) < maxDrift {
				behind[key] = at
			}
		}
		if errors.Is(err, ErrTransient) {
			err = nil // it is being written to; the next cycle checks again
		}
		return found, err
	}
	for ctx.Err() == nil {
		pause := afterACycle
		before, behind = behind, make(map[es.AggregateID]standstill)
		for _, err := range seq.Map(p.walk(ctx, pace), check) {
			if err != nil && ctx.Err() == nil {
				p.logger.WarnContext(ctx, "verifying the rows failed and will be retried", "error", err)
				pause = afterAFault
			}
		}
		_ = es.Wait(ctx, pause) // ctx is checked above
	}
}

// catchUp fills the rows of an aggregate that stay behind. Those of a parked one wait for an operator.
func (p *Projector) catchUp(ctx context.Context, key es.AggregateID) error {
	events, err := p.Fill(ctx, key)
	if events > 0 {
		p.options.Observe(Outcome{Filled: events}, 0, 0)
		p.logger.WarnContext(ctx, "the rows lacked events that the source has not brought; they are read from the journal",
			"aggregate", key.String(), "tenant", key.Tenant.String(), "events", events)
	}
	return err
}

// VerifyAll verifies, or repairs, the aggregates of verifiable types in the journal or the rows that wanted, if not
// nil, accepts: several at a time, in any order, once each; see [Projector.VerifyOrRepair]. It tells one after the
// other, and stops at the first error.
func (p *Projector) VerifyAll(ctx context.Context, wanted func(es.AggregateID) bool, repair bool, tell func(es.AggregateID, Verified) error) error {
	return seq.Each(ctx, verifyWorkers, func(ctx context.Context) iter.Seq2[es.AggregateID, error] {
		return seq.Where(p.walk(ctx, func(uint64) error { return nil }), wanted)
	}, func(ctx context.Context, key es.AggregateID) (Verified, error) {
		return p.VerifyOrRepair(ctx, key, repair)
	}, tell)
}

// walk yields the aggregates of verifiable types that have a head, then those that have rows alone. Before it reads the
// journal for one, it calls pace with the number of events. It ends after an error.
func (p *Projector) walk(ctx context.Context, pace func(events uint64) error) iter.Seq2[es.AggregateID, error] {
	withRows := seq.Map(p.positions(ctx), func(position AtVersion) (AtVersion, error) { return AtVersion{Key: position.Key}, nil })
	return seq.Map(seq.Concat(p.heads(ctx), withRows), func(head AtVersion) (es.AggregateID, error) {
		if _, able := p.handlers[head.Key.Type].(Verifiable); !able {
			return head.Key, seq.ErrSkip
		}
		if err := pace(head.Version); err != nil || head.Version > 0 {
			return head.Key, err
		}
		headless, err := p.endsAt(ctx, head.Key, 0) // the heads include all that have one
		if err == nil && !headless || es.KindOf(err) == es.Inconsistent || isUnreadable(err) {
			return head.Key, seq.ErrSkip
		}
		return head.Key, err
	})
}
