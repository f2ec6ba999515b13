package projection

import (
	"context"
	"iter"

	"example.com/threads/es"
)

// EventsAfter is for tests.
func (p *Projector) EventsAfter(ctx context.Context, key es.AggregateID, after uint64) iter.Seq2[Record, error] {
	return p.eventsAfter(ctx, key, after)
}
