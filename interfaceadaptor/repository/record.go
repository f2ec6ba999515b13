package repository

import (
	"errors"
	"fmt"

	"example.com/threads/interfaceadaptor/eventcodec"
	"example.com/threads/interfaceadaptor/threadcodec"
	"example.com/threads/usecase"
	"example.com/threads/usecase/projection"
)

var events = threadcodec.Events()

// RecordOf reads the payload of the journal entry that stands at seqNr of the thread. A payload that is no event, or
// another thread's, or another number's, makes a record with Err.
func RecordOf(key usecase.Key, seqNr uint64, payload []byte) projection.Record {
	recorded, err := events.Decode(payload)
	if err == nil && (recorded.Key() != key || recorded.SeqNr != seqNr) {
		err = fmt.Errorf("it says that it is event %d of thread %s of tenant %q", recorded.SeqNr, recorded.AggregateID, recorded.Tenant)
	}
	if err == nil {
		return projection.Record{Key: key, SeqNr: seqNr, Event: recorded}
	}
	unreadable := &projection.UnreadableError{Key: key, SeqNr: seqNr, EventID: recorded.EventID, Payload: payload, Cause: err}
	var broken *eventcodec.DecodeError
	if errors.As(err, &broken) {
		unreadable.EventID = broken.EventID
	}
	return projection.Record{Key: key, SeqNr: seqNr, Err: unreadable}
}
