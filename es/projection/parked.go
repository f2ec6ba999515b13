package projection

import (
	"context"
	"fmt"
	"time"

	"example.com/threads/es"
)

const parkedPage = 100

// RetryParked retries the parked aggregates whose retry time has come, up to the end of the journal. The first call of
// a projector retries all of them, because a newer program may be able to project them. The backoff doubles with each
// attempt, from a second to five minutes.
//
// Errors are those of [Projector.Project]. Aggregates that were not retried because of an error are retried by the next
// call.
func (p *Projector) RetryParked(ctx context.Context) (total Outcome, err error) {
	defer func() { p.options.Observe(total) }()
	now := p.options.Now()
	if err := p.wakeParked(ctx, now); err != nil {
		return Outcome{}, err
	}
	seen := make(map[es.AggregateID]bool)
	for {
		letters, err := p.store.Parked(ctx, now, parkedPage)
		if err != nil {
			return total, fmt.Errorf("list the parked aggregates: %w", err)
		}
		gaps, err := p.gapsOf(ctx, letters, seen)
		if err != nil || len(gaps) == 0 {
			return total, err
		}
		outcome, err := p.fill(ctx, gaps, withoutMark)
		total = total.plus(outcome)
		if err != nil {
			return total, err
		}
	}
}

// gapsOf returns the gaps of parked aggregates that are not in seen. Aggregates of a type without a handler are
// skipped.
func (p *Projector) gapsOf(ctx context.Context, letters []DeadLetter, seen map[es.AggregateID]bool) ([]eventGap, error) {
	var keys []es.AggregateID
	var gaps []eventGap
	for _, letter := range letters {
		if _, registered := p.handlers[letter.Key.Type]; registered && !seen[letter.Key] {
			seen[letter.Key] = true
			keys = append(keys, letter.Key)
			gaps = append(gaps, eventGap{key: letter.Key, target: letter.SeqNr, whole: true, origin: fromRetry})
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	versions, err := p.store.Versions(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read the positions of the parked aggregates: %w", err)
	}
	for i := range gaps {
		gaps[i].after = versions[gaps[i].key]
	}
	return gaps, nil
}

// wakeParked makes all parked aggregates due, once per projector.
func (p *Projector) wakeParked(ctx context.Context, now time.Time) error {
	select {
	case token := <-p.woken:
		if err := p.retry(ctx, func() error { return p.store.RetryNow(ctx, now) }); err != nil {
			p.woken <- token
			return fmt.Errorf("make the parked aggregates due: %w", err)
		}
	default:
	}
	return nil
}
