package projection

import (
	"context"
	"errors"
	"sync"
	"time"

	"example.com/threads/usecase"
)

// Drift is what a watch has found out about rows that are not what the journal says.
type Drift struct {
	Wrong   int // aggregates whose rows are different, as far as has been looked; at most maxDrift are counted
	Checked int // looks at an aggregate
	// Ahead are those of them whose rows have events that the journal does not have: it was restored to an earlier
	// moment, or has lost some. First is one of them.
	Ahead int
	First usecase.Key
}

const (
	maxDrift    = 1000
	driftAgain  = 10 * time.Second // between two looks at those that are known to be wrong
	afterACycle = 5 * time.Second
	afterAFault = 30 * time.Second
)

// drift is the state of a watch.
type drift struct {
	mu      sync.Mutex
	wrong   map[usecase.Key]bool
	checked int
	ahead   map[usecase.Key]bool
}

// Drift is what [Projector.Watch] has found out so far.
func (p *Projector) Drift() Drift {
	p.drift.mu.Lock()
	defer p.drift.mu.Unlock()
	found := Drift{Wrong: len(p.drift.wrong), Checked: p.drift.checked, Ahead: len(p.drift.ahead)}
	for found.First = range p.drift.ahead {
		break
	}
	return found
}

// Watch verifies one aggregate after the other, again and again, until ctx ends: so that rows that are not what the
// journal says show by themselves. It asks the journal about so many aggregates a second, and changes nothing. It is
// for a program that has nothing to do with who asks.
func (p *Projector) Watch(ctx context.Context, perSecond int) {
	tick := time.Second / time.Duration(perSecond)
	again := p.options.Now()
	pace := func() error {
		if err := wait(ctx, tick); err != nil {
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
		return nil
	}
	look := func(key usecase.Key) error { return p.lookAt(ctx, key) }
	for ctx.Err() == nil {
		pause := afterACycle
		if err := p.walk(ctx, pace, look); err != nil && ctx.Err() == nil {
			p.logger.WarnContext(ctx, "the rows could not be verified; the next look is in a while", "error", err)
			pause = afterAFault
		}
		_ = wait(ctx, pause) // ctx is looked at above
	}
}

func (p *Projector) lookAt(ctx context.Context, key usecase.Key) error {
	found, err := p.Verify(ctx, key)
	if errors.Is(err, ErrTransient) {
		return nil // it is being written to; the next cycle looks again
	}
	if err != nil {
		return err
	}
	if p.drift.note(key, len(found.Differences) > 0) {
		first := found.Differences[0]
		p.logger.ErrorContext(ctx, "rows are not what the journal says: `rows verify` tells all of it, and mends it with --repair",
			"aggregate", key.String(), "tenant", key.Tenant.String(), "differences", len(found.Differences)+found.More,
			"row", first.Row, "what", first.What, "expected", first.Expected, "found", first.Found)
	}
	return nil
}

// noteAhead remembers that the rows of an aggregate are ahead of the journal, and tells of the first.
func (p *Projector) noteAhead(key usecase.Key, rows uint64) {
	p.drift.mu.Lock()
	first := len(p.drift.ahead) == 0
	if first {
		p.drift.ahead = make(map[usecase.Key]bool)
	}
	if len(p.drift.ahead) < maxDrift {
		p.drift.ahead[key] = true
	}
	p.drift.mu.Unlock()
	p.drift.note(key, true)
	if first {
		p.logger.Error("the rows are ahead of the journal: the event store was restored to an earlier moment; rebuild the rows, "+
			"or set REBUILD=auto to have it done", "aggregate", key.String(), "tenant", key.Tenant.String(), "rows_version", rows)
	}
}

// ForgetDrift is for rows that others have taken the place of.
func (p *Projector) ForgetDrift() {
	p.drift.mu.Lock()
	defer p.drift.mu.Unlock()
	p.drift.wrong, p.drift.ahead = nil, nil
}

// note remembers what a look has found, and tells whether it is news that something is wrong.
func (d *drift) note(key usecase.Key, wrong bool) (news bool) {
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
		d.wrong = make(map[usecase.Key]bool)
	}
	d.wrong[key] = true
	return true
}

func (d *drift) keys() []usecase.Key {
	d.mu.Lock()
	defer d.mu.Unlock()
	keys := make([]usecase.Key, 0, len(d.wrong))
	for key := range d.wrong {
		keys = append(keys, key)
	}
	return keys
}
