package dynamodb

import (
	"context"
	"iter"

	"example.com/threads/es"
)

// maxPlaces limits the aggregates whose place is remembered, to some 15 MB.
const maxPlaces = 1 << 16

// at returns the gateway of the number of shards under which the aggregate exists; g if it does not exist.
func (g *Gateway) at(ctx context.Context, id es.AggregateID) (*Gateway, error) {
	if len(g.all) == 1 {
		return g, nil
	}
	if known, found := g.places.Get(id); found {
		return known, nil
	}
	for _, each := range g.all {
		var first item
		head, err := each.getItem(ctx, g.settings.SnapshotTable, each.key(id, headSeqNr), "pkey")
		if err == nil && len(head) == 0 && each != g { // the head may be lost
			first, err = each.getItem(ctx, g.settings.JournalTable, each.key(id, 1), "pkey")
		}
		if err != nil {
			return nil, Explain(ctx, err, "find %s", id)
		}
		if len(head)+len(first) > 0 {
			g.places.Add(id, each)
			return each, nil
		}
	}
	return g, nil
}

// under returns the gateway that looks for the aggregate's items under the pkey; nil: none.
func (g *Gateway) under(pkey string, id es.AggregateID) *Gateway {
	for _, each := range g.all {
		if each.partition(id) == pkey {
			return each
		}
	}
	return nil
}

// yielded yields what read finds, which the gateway of the aggregate does.
func yielded[T any](ctx context.Context, g *Gateway, id es.AggregateID, read func(*Gateway) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		g, err := g.at(ctx, id)
		if err != nil {
			var none T
			yield(none, err)
			return
		}
		read(g)(yield)
	}
}
