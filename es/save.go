package es

import (
	"context"
)

// Save appends the events to the journal. A due snapshot is written afterwards, in the background.
func (r *Repository[S, E]) Save(ctx context.Context, key AggregateID, write Write[S, E]) error {
	stored := Append{ID: key, ExpectedVersion: write.Before, Receipts: write.Receipts, Heed: write.Heed}
	commandID := ""
	for _, event := range write.Events {
		entry, err := r.entryOf(event)
		if err != nil {
			return err
		}
		if entry.CommandID == commandID {
			entry.CommandID = "" // the store keeps a command id with its first event only; every payload has it
		} else {
			commandID = entry.CommandID
		}
		stored.Entries = append(stored.Entries, entry)
	}
	if write.Before == 0 && len(write.Events) > 0 {
		var err error
		var none S
		if stored.FirstSnapshot, err = r.snapshots.Encode(key.ID, 1, r.apply(none, write.Events[0].Event)); err != nil {
			return err
		}
	}
	if err := r.gateway.Append(ctx, stored); err != nil {
		return err
	}
	r.snapshotter.saved(ctx, key, r.states.remember(key, write.After, r.presumedSnapshot(key, write)))
	return nil
}

// AskForTurn lets other writers know that this one is waiting.
func (r *Repository[S, E]) AskForTurn(ctx context.Context, key AggregateID) error {
	return r.gateway.AskForTurn(ctx, key)
}

func (r *Repository[S, E]) entryOf(recorded Recorded[E]) (Entry, error) {
	payload, err := r.codec.Encode(recorded)
	if err != nil {
		return Entry{}, err
	}
	return Entry{
		SeqNr:         recorded.SeqNr,
		EventID:       recorded.EventID,
		EventType:     r.codec.EventType(recorded.Event),
		OccurredAt:    recorded.OccurredAt,
		UserID:        recorded.Executor,
		CommandID:     recorded.CommandID,
		CorrelationID: recorded.CorrelationID,
		Payload:       payload,
	}, nil
}

// presumedSnapshot estimates the version of the latest snapshot of an aggregate that has left the cache: the latest
// version at which one was due. So the next snapshot is written when it is due, cached or not.
func (r *Repository[S, E]) presumedSnapshot(key AggregateID, write Write[S, E]) uint64 {
	if _, found := r.states.get(key); found {
		return 0 // the cached version is later
	}
	distance := r.snapshotter.distance(write.After.Value)
	return write.Before / distance * distance
}
