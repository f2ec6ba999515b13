package projection

import (
	"context"
	"fmt"
	"time"

	"example.com/threads/usecase"
)

const parkedPage = 100

// RetryParked tries the parked threads again whose time has come, and brings those that can go on to the end of the
// journal. The first call of a projector takes all of them: what stopped a thread may have gone with the program that
// did not know better. The pause before the next attempt doubles each time, from a second to five minutes.
//
// Errors are those of [Projector.Project]; the rest is tried again with the next call.
func (p *Projector) RetryParked(ctx context.Context) (Outcome, error) {
	now := p.options.Now()
	if err := p.wakeParked(ctx, now); err != nil {
		return Outcome{}, err
	}
	var total Outcome
	seen := make(map[usecase.Key]bool)
	for {
		letters, err := p.readModel.Parked(ctx, now, parkedPage)
		if err != nil {
			return total, fmt.Errorf("list the parked threads: %w", err)
		}
		gaps, err := p.gapsOf(ctx, letters, seen)
		if err != nil || len(gaps) == 0 {
			return total, err
		}
		outcome, err := p.fill(ctx, gaps, Checkpoint{})
		total = total.plus(outcome)
		if err != nil {
			return total, err
		}
	}
}

// gapsOf is what the parked threads lack that have not been seen before.
func (p *Projector) gapsOf(ctx context.Context, letters []DeadLetter, seen map[usecase.Key]bool) ([]gap, error) {
	var keys []usecase.Key
	for _, letter := range letters {
		if !seen[letter.Key] {
			seen[letter.Key] = true
			keys = append(keys, letter.Key)
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	versions, err := p.readModel.Versions(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read the versions of the parked threads: %w", err)
	}
	gaps := make([]gap, len(keys))
	for i, key := range keys {
		gaps[i] = gap{key: key, after: versions[key], target: endOfJournal, origin: fromRetry}
	}
	return gaps, nil
}

// wakeParked makes every parked thread due, once in the life of the projector.
func (p *Projector) wakeParked(ctx context.Context, now time.Time) error {
	select {
	case token := <-p.woken:
		if err := p.retry(ctx, func() error { return p.readModel.RetryNow(ctx, now) }); err != nil {
			p.woken <- token
			return fmt.Errorf("make the parked threads due: %w", err)
		}
	default:
	}
	return nil
}
