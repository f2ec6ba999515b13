package relational

import (
	"context"

	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/interfaceadaptor/repository"
	"example.com/threads/usecase/projection"
)

// batchOf makes a page into records. What is not a thread's has no place in the read model; what is a thread's and can't be
// read as an event becomes a record with Err: it is never dropped.
func (s *Source) batchOf(ctx context.Context, queue string, page []eventstore.Queued) projection.Batch {
	batch := projection.Batch{Checkpoint: bookmark{queue, page[len(page)-1].Position}.checkpoint()}
	for _, queued := range page {
		if queued.ID.Type != repository.AggregateType {
			s.counters.Skipped.Add(1)
			continue
		}
		key, err := repository.KeyOf(queued.ID)
		if err != nil {
			s.counters.Skipped.Add(1)
			s.ports.Log.WarnContext(ctx, "an event of the queue is skipped: it names no thread", "sequence_number", queued.Position, "reason", err)
			continue
		}
		record := repository.RecordOf(key, queued.SeqNr, queued.Payload)
		if record.Err != nil {
			s.counters.Unreadable.Add(1)
		}
		batch.Records = append(batch.Records, record)
	}
	return batch
}
