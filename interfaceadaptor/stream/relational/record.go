package relational

import (
	"context"
	"errors"

	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/repository"
	"example.com/threads/usecase"
	"example.com/threads/usecase/projection"
)

// aggregateType is what the queue knows threads as.
const aggregateType = "thread"

// batchOf makes a page into records. What is not a thread's has no place in the read model.
func (s *Source) batchOf(ctx context.Context, queue string, page []repository.Queued) projection.Batch {
	batch := projection.Batch{Checkpoint: bookmark{queue, page[len(page)-1].Position}.checkpoint()}
	for _, queued := range page {
		if queued.ID.Type != aggregateType {
			s.counters.Skipped.Add(1)
			continue
		}
		record, err := recordOf(queued)
		if err != nil {
			s.counters.Skipped.Add(1)
			s.ports.Log.WarnContext(ctx, "an event of the queue is skipped: it names no thread", "sequence_number", queued.Position, "reason", err)
			continue
		}
		if record.Err != nil {
			s.counters.Unreadable.Add(1)
		}
		batch.Records = append(batch.Records, record)
	}
	return batch
}

// recordOf is the entry as the projection takes it. One that names its thread and can't be read as an event becomes a
// record with Err: it is never dropped.
func recordOf(queued repository.Queued) (projection.Record, error) {
	tenant, errTenant := usecase.ParseTenant(queued.ID.Tenant)
	id, errID := thread.ParseID[thread.Thread](queued.ID.ULID)
	if err := errors.Join(errTenant, errID); err != nil {
		return projection.Record{}, err
	}
	record := projection.Record{Key: usecase.ThreadKey{Tenant: tenant, Thread: id}, SeqNr: queued.SeqNr}
	event, err := repository.ReadEntry(record.Key, queued.SeqNr, queued.Payload)
	if err != nil && !errors.As(err, &record.Err) {
		record.Err = &projection.UnreadableError{Key: record.Key, SeqNr: queued.SeqNr, EventID: queued.EventID, Payload: queued.Payload, Cause: err}
	}
	record.Event = event
	return record, nil
}
