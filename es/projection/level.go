package projection

import (
	"context"
	"fmt"

	"example.com/threads/es"
)

const (
	levelPage = 500
	// enoughLevel is how many events the last round may apply before the switch. The switch has to apply about as many
	// while writers wait.
	enoughLevel = 100
	levelRounds = 50
)

// leveller brings the new set level with the live one.
type leveller struct {
	// ahead holds, for each aggregate whose live rows are ahead of the journal, the live and the new version. The live
	// version can't be reached, so the aggregate is skipped until one of the two changes.
	ahead map[es.AggregateID][2]uint64
}

// bring applies the missing events and returns their number, and the live position of an aggregate that could not be
// brought level; zero: there is none.
func (l *leveller) bring(ctx context.Context, next Making, projector *Projector) (filled int, left Head, err error) {
	for after, more := (es.AggregateID{}), true; more; {
		page, err := next.Behind(ctx, after, levelPage)
		if err != nil {
			return filled, left, fmt.Errorf("compare with the live rows: %w", err)
		}
		if more = len(page) == levelPage; more {
			after = page[len(page)-1].Key
		}
		n, err := l.fill(ctx, next, projector, page, &left)
		if filled += n; err != nil {
			return filled, left, err
		}
	}
	return filled, left, nil
}

func (l *leveller) fill(ctx context.Context, next Making, projector *Projector, page []Head, left *Head) (filled int, err error) {
	keys := make([]es.AggregateID, len(page))
	for i, head := range page {
		keys[i] = head.Key
	}
	versions, err := next.Versions(ctx, keys)
	if err != nil {
		return 0, err
	}
	var gaps []eventGap
	var behind []Head // the live positions that they should reach
	for _, live := range page {
		if _, registered := projector.handlers[live.Key.Type]; !registered {
			*left = live // another program has begun to project the type
			continue
		}
		if l.ahead[live.Key] != [2]uint64{live.Version, versions[live.Key]} {
			behind = append(behind, live)
			// Up to the end of the journal: the live rows may be ahead of it.
			gaps = append(gaps, eventGap{key: live.Key, after: versions[live.Key], target: versions[live.Key], whole: true, origin: fromJournal})
		}
	}
	outcome, err := projector.fill(ctx, gaps, withoutMark)
	if err != nil {
		return outcome.Filled, err
	}
	if versions, err = next.Versions(ctx, keys); err != nil {
		return outcome.Filled, err
	}
	for _, live := range behind {
		if versions[live.Key] >= live.Version {
			continue
		}
		switch lost, err := projector.ahead(ctx, live); {
		case err != nil && es.KindOf(err) != es.Inconsistent:
			return outcome.Filled, err
		case err == nil && lost:
			l.ahead[live.Key] = [2]uint64{live.Version, versions[live.Key]}
		default: // the head is wrong, the journal could not be read a moment ago, or its event can't be applied
			*left = live
		}
	}
	return outcome.Filled, nil
}
