package repository

import (
	"fmt"

	"example.com/threads/interfaceadaptor/eventcodec"
	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/usecase"
)

func entryOf(recorded usecase.Recorded) (eventstore.Entry, error) {
	payload, err := eventcodec.Encode(recorded)
	if err != nil {
		return eventstore.Entry{}, fmt.Errorf("encode event %s: %w", recorded.EventID, err)
	}
	return eventstore.Entry{
		SeqNr:         recorded.SeqNr,
		EventID:       recorded.EventID.String(),
		EventType:     eventcodec.TypeOf(recorded.Event),
		OccurredAt:    recorded.OccurredAt,
		UserID:        recorded.Executor.String(),
		CommandID:     recorded.CommandID,
		CorrelationID: recorded.CorrelationID,
		Payload:       payload,
	}, nil
}
