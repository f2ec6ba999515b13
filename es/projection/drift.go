package projection

import (
	"context"
	"errors"
	"sync"
	"time"

	"example.com/threads/es"
)

// Drift is the result of [Projector.Watch]: rows that differ from the journal.
type Drift struct {
	Wrong   int // aggregates with different rows found so far; at most maxDrift are counted
	Checked int // comparisons made so far
	// Ahead counts those of Wrong whose rows have events that the journal lacks: it was restored to an earlier time, or
	// lost events. First is one of them.
	Ahead int
	First es.AggregateID
}

const (
	maxDrift    = 1000
	driftEvents = 500              // that count as one aggregate
	driftAgain  = 10 * time.Second // interval of checking wrong aggregates again
	afterACycle = 5 * time.Second
	afterAFault = 30 * time.Second
)

// drift is the state of a watch.
type drift struct {
	mu      sync.Mutex
	wrong   map[es.AggregateID]bool
	checked int
	ahead   map[es.AggregateID]bool
}

// Drift returns what [Projector.Watch] has found so far.
func (p *Projector) Drift() Drift {
	p.drift.mu.Lock()
	defer p.drift.mu.Unlock()
	found := Drift{Wrong: len(p.drift.wrong), Checked: p.drift.checked, Ahead: len(p.drift.ahead)}
	for found.First = range p.drift.ahead {
		break
	}
	return found
}

// Watch verifies all aggregates, one after the other, in cycles, until ctx ends, so that wrong rows are found without
// being asked for. It reads the journal for a limited number of aggregates per second and changes nothing. An aggregate
// with more than 500 events counts as several, because all of them are read. Run it in a program that does not answer
// queries.
func (p *Projector) Watch(ctx context.Context, perSecond int) {
	tick := time.Second / time.Duration(perSecond)
	again := p.options.Now()
	pace := func(events uint64) error {
		for read := uint64(0); read == 0 || read < events; read += driftEvents {
			if err := es.Wait(ctx, tick); err != nil {
				return err
			}
			if now := p.options.Now(); now.Sub(again) >= driftAgain {
				again = now
				for _, known := range p.drift.keys() {
					if err := p.lookAt(ctx, known); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}
	look := func(key es.AggregateID) error { return p.lookAt(ctx, key) }
	for ctx.Err() == nil {
		pause := afterACycle
		if err := p.walk(ctx, pace, look); err != nil && ctx.Err() == nil {
			p.logger.WarnContext(ctx, "verifying the rows failed and will be retried", "error", err)
			pause = afterAFault
		}
		_ = es.Wait(ctx, pause) // ctx is checked above
	}
}

func (p *Projector) lookAt(ctx context.Context, key es.AggregateID) error {
	found, err := p.Verify(ctx, key)
	if errors.Is(err, ErrTransient) {
		return nil // it is being written to; the next cycle checks again
	}
	if err != nil {
		return err
	}
	switch news := p.drift.note(key, len(found.Differences) > 0); {
	case news && found.Contradicted:
		p.logContradiction(ctx, key, found.Differences[0].Found)
	case news:
		first := found.Differences[0]
		p.logger.ErrorContext(ctx, "rows differ from the journal: `rows verify` lists the differences, and repairs them with --repair",
			"aggregate", key.String(), "tenant", key.Tenant.String(), "differences", len(found.Differences)+found.More,
			"row", first.Row, "what", first.What, "expected", first.Expected, "found", first.Found)
	}
	return nil
}

// lookAhead records whether the rows of an aggregate are ahead of the journal. A wrong head is logged instead: an
// operator must repair it, and new rows would not help.
func (p *Projector) lookAhead(ctx context.Context, position Head) (ahead bool, err error) {
	ahead, err = p.ahead(ctx, position)
	switch {
	case es.KindOf(err) == es.Inconsistent:
		if p.drift.note(position.Key, true) {
			p.logContradiction(ctx, position.Key, err.Error())
		}
		return false, nil
	case err == nil && ahead:
		p.noteAhead(position.Key, position.Version)
	}
	return ahead, err
}

func (p *Projector) logContradiction(ctx context.Context, key es.AggregateID, what string) {
	p.logger.ErrorContext(ctx, "head and journal contradict each other: `journal check` tells what to do",
		"aggregate", key.String(), "tenant", key.Tenant.String(), "found", what)
}

// noteAhead records that the rows of an aggregate are ahead of the journal, and logs the first one.
func (p *Projector) noteAhead(key es.AggregateID, rows uint64) {
	p.drift.mu.Lock()
	first := len(p.drift.ahead) == 0
	if first {
		p.drift.ahead = make(map[es.AggregateID]bool)
	}
	if len(p.drift.ahead) < maxDrift {
		p.drift.ahead[key] = true
	}
	p.drift.mu.Unlock()
	p.drift.note(key, true)
	if first {
		p.logger.Error("the rows are ahead of the journal: the event store was restored to an earlier time; rebuild the rows, "+
			"or set REBUILD=auto to have it done", "aggregate", key.String(), "tenant", key.Tenant.String(), "rows_version", rows)
	}
}

// ForgetDrift clears the findings after the rows were replaced.
func (p *Projector) ForgetDrift() {
	p.drift.mu.Lock()
	defer p.drift.mu.Unlock()
	p.drift.wrong, p.drift.ahead = nil, nil
}

// note records the result of a comparison and reports whether the aggregate is newly wrong.
func (d *drift) note(key es.AggregateID, wrong bool) (news bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.checked++
	if !wrong {
		delete(d.wrong, key)
		delete(d.ahead, key)
		return false
	}
	if d.wrong[key] || len(d.wrong) == maxDrift {
		return false
	}
	if d.wrong == nil {
		d.wrong = make(map[es.AggregateID]bool)
	}
	d.wrong[key] = true
	return true
}

func (d *drift) keys() []es.AggregateID {
	d.mu.Lock()
	defer d.mu.Unlock()
	keys := make([]es.AggregateID, 0, len(d.wrong))
	for key := range d.wrong {
		keys = append(keys, key)
	}
	return keys
}
