package projection

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/threads/usecase"
)

const (
	repairChunk    = 500 // threads
	repairProgress = 5 * time.Second
)

// Repair compares every thread of the journal with its rows and fills what is missing: at the first start, and when a
// source has forgotten records that nobody had projected. It takes nothing away and may run beside everything else, be
// broken off, and be run again; what is in the rows by then is only looked at.
//
// Errors are those of [Projector.Project], and the journal's.
func (p *Projector) Repair(ctx context.Context) (Outcome, error) {
	progress := &repair{projector: p, begun: p.options.Now(), told: p.options.Now()}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(p.options.RepairWorkers)

	var chunk []Head
	flush := func() {
		heads := chunk
		chunk = nil
		group.Go(func() error { return progress.look(groupCtx, heads) })
	}
	var walkErr error
	for head, err := range p.journal.Heads(groupCtx) {
		if err != nil {
			walkErr = fmt.Errorf("walk the journal's threads: %w", err)
			break
		}
		if chunk = append(chunk, head); len(chunk) == repairChunk {
			flush()
		}
	}
	if walkErr == nil && len(chunk) > 0 {
		flush()
	}
	err := group.Wait()
	if err == nil {
		err = walkErr
	}
	if err != nil {
		return progress.outcome, err
	}
	progress.tell(ctx, "the read model is repaired")
	return progress.outcome, nil
}

// repair is a repair under way.
type repair struct {
	projector *Projector
	begun     time.Time

	mu      sync.Mutex
	told    time.Time
	threads int // looked at
	behind  int // of them
	outcome Outcome
}

// look fills those threads whose rows are behind their heads.
func (r *repair) look(ctx context.Context, heads []Head) error {
	keys := make([]usecase.Key, len(heads))
	for i, head := range heads {
		keys[i] = head.Key
	}
	versions, err := r.projector.readModel.Versions(ctx, keys)
	if err != nil {
		return fmt.Errorf("read the versions of the rows: %w", err)
	}
	var gaps []gap
	for _, head := range heads {
		if after := versions[head.Key]; after < head.Version {
			gaps = append(gaps, gap{key: head.Key, after: after, target: head.Version, origin: fromJournal})
		}
	}
	behind := len(gaps)
	outcome, err := r.projector.fill(ctx, gaps, Checkpoint{})
	r.count(ctx, len(heads), behind, outcome)
	return err
}

func (r *repair) count(ctx context.Context, threads, behind int, outcome Outcome) {
	r.mu.Lock()
	r.threads += threads
	r.behind += behind
	r.outcome = r.outcome.plus(outcome)
	now := r.projector.options.Now()
	due := now.Sub(r.told) >= repairProgress
	if due {
		r.told = now
	}
	r.mu.Unlock()
	if due {
		r.tell(ctx, "the read model is being repaired")
	}
}

func (r *repair) tell(ctx context.Context, what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.projector.logger.InfoContext(ctx, what, "threads", r.threads, "behind", r.behind, "events", r.outcome.Filled,
		"parked", r.outcome.Parked, "seconds", r.projector.options.Now().Sub(r.begun).Seconds())
}
