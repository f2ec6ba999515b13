package projection

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"example.com/threads/es"
	"example.com/threads/es/internal/seq"
)

// eventsAfter yields the records of an aggregate whose SeqNr is above after, up to the version of the aggregate's head,
// in order and without gaps, page by page. It ends after an error. An aggregate without a head has no records. The
// error is of the kind [es.Inconsistent] when the head counts events that the journal lacks, or when the journal has
// events beyond the head and after is beyond it, too.
func (p *Projector) eventsAfter(ctx context.Context, key es.AggregateID, after uint64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if !p.options.Tenants(key.Tenant) {
			return
		}
		head, err := p.journal.Head(ctx, key)
		if err == nil && after > head.Version { // the journal lost events, or the head is wrong
			err = head.Verify(ctx, p.journal, key)
		}
		if err != nil {
			yield(Record{}, err)
			return
		}
		seq.Map(p.journal.Entries(ctx, key, after, head.Version), func(entry es.Entry) (Record, error) {
			return Record{Key: key, SeqNr: entry.SeqNr, Payload: entry.Payload}, nil
		})(yield)
	}
}

// wholeSource is the source name of the checkpoints of ProjectAll.
const wholeSource = "journal"

// ProjectAll applies the whole journal after its checkpoints, all parts concurrently, with at least one transaction at
// a time for each part. Entries of other types than those of the handlers, and what names no aggregate, are left out.
func (p *Projector) ProjectAll(ctx context.Context, journal es.Journal, checkpoints Checkpoints, workers int) error {
	stored, err := checkpoints.Checkpoints(ctx, wholeSource)
	if err != nil {
		return err
	}
	parts := journal.JournalParts()
	group, ctx := errgroup.WithContext(ctx)
	for part := range parts {
		at := Checkpoint{Source: wholeSource, Shard: fmt.Sprintf("%d/%d", part+1, parts)}
		if i := slices.IndexFunc(stored, func(known Checkpoint) bool { return known.Shard == at.Shard }); i >= 0 {
			at = stored[i]
		}
		group.Go(func() error {
			// A page is read and decoded while the one before it is applied.
			applying, ctx := errgroup.WithContext(ctx)
			applying.SetLimit(1)
			for page, err := range journal.ReadJournal(ctx, part, parts, at.Position) {
				if err != nil {
					return cmp.Or(applying.Wait(), fmt.Errorf("read part %s of the journal: %w", at.Shard, err))
				}
				shares := p.decodePage(page.Entries, max(1, workers/parts))
				at.Position = page.Next
				checkpoint := at
				applying.Go(func() error { return p.projectPage(ctx, shares, checkpoint) })
			}
			return applying.Wait()
		})
	}
	return group.Wait()
}

// decodePage decodes entries into shares that can be applied concurrently, each with all events of its aggregates.
func (p *Projector) decodePage(entries []es.Queued, shares int) []decodedBatch {
	batches, decoded := make([]Batch, shares), make([]decodedBatch, shares)
	seed := maphash.MakeSeed()
	for _, entry := range entries {
		if _, registered := p.handlers[entry.ID.Type]; registered && entry.ID.Check() == nil {
			share := &batches[maphash.String(seed, entry.ID.ID)%uint64(shares)]
			share.Records = append(share.Records, Record{Key: entry.ID, SeqNr: entry.SeqNr, Payload: entry.Payload})
		}
	}
	var group sync.WaitGroup
	for i, batch := range batches {
		group.Go(func() { decoded[i] = p.decodeAll(batch) })
	}
	group.Wait()
	return decoded
}

// projectPage applies the shares of a page concurrently, and then stores its checkpoint.
func (p *Projector) projectPage(ctx context.Context, shares []decodedBatch, checkpoint Checkpoint) error {
	group, groupCtx := errgroup.WithContext(ctx)
	for _, share := range shares {
		group.Go(func() error {
			_, err := p.project(groupCtx, share)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	_, err := p.Project(ctx, Batch{Checkpoint: checkpoint})
	return err
}
