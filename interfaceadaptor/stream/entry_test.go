package stream_test

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/stream"
	"example.com/threads/interfaceadaptor/threadcodec"
	"example.com/threads/usecase"
	"example.com/threads/usecase/chat"
)

func entry(t testing.TB, tenant string) stream.Entry {
	t.Helper()
	code, err := usecase.ParseTenant(tenant)
	if err != nil {
		t.Fatal(err)
	}
	id := ident.New[thread.Thread](time.Unix(1, 0), [10]byte{1})
	payload, err := threadcodec.Events().Encode(usecase.Recorded[thread.Event]{
		Envelope: usecase.Envelope{
			EventID: ident.New[thread.Event](time.Unix(2, 0), [10]byte{2}).String(), AggregateType: thread.AggregateType, AggregateID: id.String(), SeqNr: 3, OccurredAt: time.Unix(2, 0).UTC(),
			Caller: usecase.Caller{Tenant: code, Executor: ident.New[ident.UserAccount](time.Unix(1, 0), [10]byte{3}).String()},
		},
		Event: thread.Deleted{},
	})
	if err != nil {
		t.Fatal(err)
	}
	pkey := "thread-12"
	if tenant != "" {
		pkey = tenant + "#" + pkey
	}
	return stream.Entry{PKey: pkey, AID: "thread-" + id.String(), SeqNr: "3", Payload: payload}
}

func TestAnEntryBecomesARecord(t *testing.T) {
	for _, tenant := range []string{"", "acme"} {
		record, err := entry(t, tenant).Record()
		if err != nil || record.Err != nil {
			t.Fatal(err, record.Err)
		}
		if record.Key.Tenant.String() != tenant || record.SeqNr != 3 || record.Event.Event != (thread.Deleted{}) || record.Event.Key() != record.Key {
			t.Errorf("tenant %q: %+v", tenant, record)
		}
	}
}

func TestWhatCannotBeReadIsNotDropped(t *testing.T) {
	for name, spoil := range map[string]func(*stream.Entry){
		"no payload": func(e *stream.Entry) { e.Payload = nil },
		"not JSON":   func(e *stream.Entry) { e.Payload = []byte("{") },
		"unknown type": func(e *stream.Entry) {
			e.Payload = []byte(`{"type":"ThreadPainted","id":"01H42KBHCW1BZG504J4ZXKA2F2"}`)
		},
		"another number":     func(e *stream.Entry) { e.SeqNr = "4" },
		"another tenant's":   func(e *stream.Entry) { e.PKey = "other#thread-12" },
		"another thread's":   func(e *stream.Entry) { e.AID = "thread-01H42KBHCW1BZG504J4ZXKA2F2" },
		"a tenant's own one": func(e *stream.Entry) { e.PKey = "thread-12" },
	} {
		t.Run(name, func(t *testing.T) {
			e := entry(t, "acme")
			spoil(&e)
			record, err := e.Record()
			if err != nil || record.Err == nil {
				t.Fatalf("got %+v and %v, want a record that says why it can't be read", record, err)
			}
			if chat.ThreadID(record.Key).IsZero() || record.Err.Key != record.Key || record.Err.SeqNr != record.SeqNr || record.Err.Cause == nil {
				t.Errorf("it does not say whose it is: %+v", record)
			}
		})
	}
}

func TestWhatIsNoEntryIsAnError(t *testing.T) {
	for name, spoil := range map[string]func(*stream.Entry){
		"empty":               func(e *stream.Entry) { *e = stream.Entry{} },
		"no aid":              func(e *stream.Entry) { e.AID = "" },
		"another aggregate":   func(e *stream.Entry) { e.AID = "group-01H42KBHCW1BZG504J4ZXKA2F2" },
		"no ulid":             func(e *stream.Entry) { e.AID = "thread-1" },
		"no seq_nr":           func(e *stream.Entry) { e.SeqNr = "" },
		"seq_nr 0":            func(e *stream.Entry) { e.SeqNr = "0" },
		"negative seq_nr":     func(e *stream.Entry) { e.SeqNr = "-1" },
		"another partition":   func(e *stream.Entry) { e.PKey = "receipt-12" },
		"no shard":            func(e *stream.Entry) { e.PKey = "thread-" },
		"not a tenant's code": func(e *stream.Entry) { e.PKey = "ACME!#thread-1" },
		"two tenants":         func(e *stream.Entry) { e.PKey = "a#b#thread-1" },
	} {
		t.Run(name, func(t *testing.T) {
			e := entry(t, "")
			spoil(&e)
			if record, err := e.Record(); !errors.Is(err, stream.ErrNotAnEntry) {
				t.Errorf("got %+v and %v", record, err)
			}
		})
	}
}

// Any source - here, what a Lambda handler takes out of its event - gets from an item to a record in one call.
func ExampleEntry_Record() {
	payload, err := os.ReadFile("../threadcodec/testdata/Created.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	e := stream.Entry{PKey: "thread-7", AID: "thread-01890535-c59c-72d5-08a8-dcea316374c8", SeqNr: "1", Payload: payload}
	record, err := e.Record()
	created := record.Event.Event.(thread.Created)
	fmt.Println(chat.ThreadID(record.Key), record.SeqNr, created.Name, err)
	// Output: 01H42KBHCWEBAGHA6WX8RP6X68 1 test <nil>
}
