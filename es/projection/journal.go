package projection

import (
	"context"
	"fmt"
	"hash/maphash"
	"iter"
	"sync"

	"golang.org/x/sync/errgroup"

	"example.com/threads/es"
)

// JournalReader reads an event store's journal for projections and rebuilds, whose ports it fills.
type JournalReader struct{ Journal es.Journal }

var _ WholeJournal = JournalReader{}

// EventsAfter implements [Journal].
func (r JournalReader) EventsAfter(ctx context.Context, key es.AggregateID, after uint64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		head, err := r.Journal.Head(ctx, key)
		if err != nil {
			yield(Record{}, err)
			return
		}
		if after > head.Version { // the caller knows later events: either the journal lost them, or the head is wrong
			if err := r.Journal.Verify(ctx, key, head); err != nil {
				yield(Record{}, err)
				return
			}
		}
		for entry, err := range r.Journal.Entries(ctx, key, after, head.Version) {
			if !yield(Record{Key: key, SeqNr: entry.SeqNr, Payload: entry.Payload}, err) || err != nil {
				return
			}
		}
	}
}

// Remaining returns an aggregate of the key's type that has an event: the key's own if it has one; false: there is
// none. Only if the key's own has none, all aggregates are listed.
func (r JournalReader) Remaining(ctx context.Context, key es.AggregateID) (es.AggregateID, bool, error) {
	store, able := r.Journal.(es.Maintainer)
	if !able {
		return key, true, nil
	}
	has := func(key es.AggregateID) (bool, error) {
		for _, err := range store.StoredEntries(ctx, key) {
			return err == nil, err
		}
		return false, nil
	}
	if found, err := has(key); found || err != nil {
		return key, found, err
	}
	for stored, err := range store.StoredAggregates(ctx) {
		if err != nil {
			return es.AggregateID{}, false, err
		}
		if stored.ID.Check() != nil || stored.ID.Type != key.Type || len(stored.Faults) > 0 {
			continue
		}
		if found, err := has(stored.ID); found || err != nil {
			return stored.ID, found, err
		}
	}
	return es.AggregateID{}, false, nil
}

// Heads implements [Journal]. What names no aggregate is left out.
func (r JournalReader) Heads(ctx context.Context, aggregateType string) iter.Seq2[Head, error] {
	return func(yield func(Head, error) bool) {
		for aggregate, err := range r.Journal.Heads(ctx, aggregateType) {
			if err == nil && aggregate.ID.Check() != nil {
				continue
			}
			if !yield(Head{Key: aggregate.ID, Version: aggregate.Version}, err) || err != nil {
				return
			}
		}
	}
}

// Parts implements [WholeJournal].
func (r JournalReader) Parts() int { return r.Journal.JournalParts() }

// Read implements [WholeJournal]. What names no aggregate is left out.
func (r JournalReader) Read(ctx context.Context, part, parts int, after string) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		for found, err := range r.Journal.ReadJournal(ctx, part, parts, after) {
			page := Batch{Checkpoint: Checkpoint{Position: found.Next}, Records: make([]Record, 0, len(found.Entries))}
			for _, entry := range found.Entries {
				if entry.ID.Check() == nil {
					page.Records = append(page.Records, Record{Key: entry.ID, SeqNr: entry.SeqNr, Payload: entry.Payload})
				}
			}
			if !yield(page, err) || err != nil {
				return
			}
		}
	}
}

// WholeJournal is a [Journal] that can be read from the beginning to the end.
type WholeJournal interface {
	Journal
	// Parts returns the best number of parts to read concurrently. All records of an aggregate are in one part.
	Parts() int
	// Read yields the records of a part page by page, after the position of a page's checkpoint or from the beginning
	// (""). Records written meanwhile may be missing. It ends after an error.
	Read(ctx context.Context, part, parts int, after string) iter.Seq2[Batch, error]
}

// wholeSource is the source name of the checkpoints of ProjectAll.
const wholeSource = "journal"

// ProjectAll applies the whole journal after its checkpoints, all parts concurrently, with at least one transaction at
// a time for each part. Records of other types than those of the handlers are left out.
func (p *Projector) ProjectAll(ctx context.Context, journal WholeJournal, checkpoints Checkpoints, workers int) error {
	stored, err := checkpoints.Checkpoints(ctx, wholeSource)
	if err != nil {
		return err
	}
	parts := journal.Parts()
	group, ctx := errgroup.WithContext(ctx)
	for part := range parts {
		at := Checkpoint{Source: wholeSource, Shard: fmt.Sprintf("%d/%d", part+1, parts)}
		for _, known := range stored {
			if known.Shard == at.Shard {
				at = known
			}
		}
		// A page is read and decoded while the one before it is applied.
		pages := make(chan []decodedBatch)
		group.Go(func() error {
			defer close(pages)
			for page, err := range journal.Read(ctx, part, parts, at.Position) {
				if err != nil {
					return fmt.Errorf("read part %s of the journal: %w", at.Shard, err)
				}
				at.Position = page.Checkpoint.Position
				select {
				case pages <- p.decodePage(page.Records, at, max(1, workers/parts)):
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}
			return nil
		})
		group.Go(func() error {
			for page := range pages {
				if err := p.projectPage(ctx, page); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// decodePage decodes records into shares that can be applied concurrently, each with all events of its aggregates. The
// checkpoint is in the last one.
func (p *Projector) decodePage(records []Record, checkpoint Checkpoint, shares int) []decodedBatch {
	batches := make([]Batch, shares)
	seed := maphash.MakeSeed()
	for _, record := range records {
		if _, registered := p.handlers[record.Key.Type]; registered {
			share := &batches[maphash.String(seed, record.Key.ID)%uint64(shares)]
			share.Records = append(share.Records, record)
		}
	}
	if shares > 1 {
		batches = append(batches, Batch{})
	}
	batches[len(batches)-1].Checkpoint = checkpoint
	decoded := make([]decodedBatch, len(batches))
	var group sync.WaitGroup
	for i, batch := range batches {
		group.Go(func() { decoded[i] = p.decodeAll(batch) })
	}
	group.Wait()
	return decoded
}

// projectPage applies the shares of a page concurrently, and stores its checkpoint with the last one.
func (p *Projector) projectPage(ctx context.Context, shares []decodedBatch) error {
	last := len(shares) - 1
	group, groupCtx := errgroup.WithContext(ctx)
	for _, share := range shares[:last] {
		group.Go(func() error {
			_, err := p.project(groupCtx, share)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	_, err := p.project(ctx, shares[last])
	return err
}
