package stream_test

import (
	"errors"
	"testing"

	"example.com/threads/es/stream"
)

// Any record of the stream must be an event of an aggregate, or no journal entry.
func FuzzRecord(f *testing.F) {
	const id = "01H42K4ABWQ5V2XQEP3A48VE0Z"
	f.Add("thread-7", "thread-"+id, "1", []byte("{}"))
	f.Add("acme#thread-7", "thread-01890535-c59c-72d5-08a8-dcea316374c8", "18446744073709551615", []byte(nil))
	f.Fuzz(func(t *testing.T, pkey, aid, seqNr string, payload []byte) {
		record, err := stream.Entry{PKey: pkey, AID: aid, SeqNr: seqNr, Payload: payload}.Record()
		switch {
		case err != nil && !errors.Is(err, stream.ErrNotAnEntry):
			t.Errorf("%q, %q, %q: %v", pkey, aid, seqNr, err)
		case err == nil && (len(record.Key.ID) != len(id) || record.SeqNr == 0 || record.Key.Type == ""):
			t.Errorf("%q, %q, %q is %+v", pkey, aid, seqNr, record)
		}
	})
}
