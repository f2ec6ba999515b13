package repository

import (
	"fmt"

	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/eventcodec"
	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/usecase"
)

func entryOf(recorded usecase.Recorded[thread.Event]) (eventstore.Entry, error) {
	payload, err := eventcodec.Encode(recorded)
	if err != nil {
		return eventstore.Entry{}, fmt.Errorf("encode event %s: %w", recorded.EventID, err)
	}
	return eventstore.Entry{
		SeqNr:         recorded.SeqNr,
		EventID:       recorded.EventID,
		EventType:     eventcodec.TypeOf(recorded.Event),
		OccurredAt:    recorded.OccurredAt,
		UserID:        recorded.Executor,
		CommandID:     recorded.CommandID,
		CorrelationID: recorded.CorrelationID,
		Payload:       payload,
	}, nil
}
