package repository

import (
	"fmt"

	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/eventcodec"
	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/usecase"
)

// recordedOf reads the journal entry of a thread. One that is no event, or another thread's, or another number's, is an
// error.
func recordedOf(key usecase.Key, entry eventstore.Entry) (usecase.Recorded[thread.Event], error) {
	recorded, err := eventcodec.Decode(entry.Payload)
	if err == nil && (recorded.Key() != key || recorded.SeqNr != entry.SeqNr) {
		err = fmt.Errorf("it says that it is event %d of %s of tenant %q", recorded.SeqNr, recorded.Key(), recorded.Tenant)
	}
	if err != nil {
		return recorded, fmt.Errorf("event %d of %s can't be read: %w", entry.SeqNr, key, err)
	}
	return recorded, nil
}
