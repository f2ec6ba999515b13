package stream_test

import (
	"errors"
	"fmt"
	"testing"

	"example.com/threads/es/stream"
)

const ulidText = "01H42KBHCWEBAGHA6WX8RP6X68"

func entry(tenant string) stream.Entry {
	pkey := "order-12"
	if tenant != "" {
		pkey = tenant + "#" + pkey
	}
	return stream.Entry{PKey: pkey, AID: "order-" + ulidText, SeqNr: "3", Payload: []byte("anything")}
}

func TestAnEntryBecomesARecord(t *testing.T) {
	for _, tenant := range []string{"", "acme"} {
		record, err := entry(tenant).Record()
		if err != nil {
			t.Fatal(err)
		}
		if key := record.Key; key.Tenant.String() != tenant || key.Type != "order" || key.ID != ulidText || record.SeqNr != 3 || string(record.Payload) != "anything" {
			t.Errorf("tenant %q: %+v", tenant, record)
		}
	}
}

func TestWhatIsNoEntryIsAnError(t *testing.T) {
	for name, spoil := range map[string]func(*stream.Entry){
		"empty":               func(e *stream.Entry) { *e = stream.Entry{} },
		"no aid":              func(e *stream.Entry) { e.AID = "" },
		"another aggregate":   func(e *stream.Entry) { e.AID = "group-" + ulidText },
		"no ulid":             func(e *stream.Entry) { e.AID = "order-1" },
		"a small ulid":        func(e *stream.Entry) { e.AID = "order-01h42kbhcwebagha6wx8rp6x68" },
		"a uuid":              func(e *stream.Entry) { e.AID = "order-01890535-c59c-72d5-08a8-dcea316374c8" },
		"the zero ulid":       func(e *stream.Entry) { e.AID = "order-00000000000000000000000000" },
		"no seq_nr":           func(e *stream.Entry) { e.SeqNr = "" },
		"seq_nr 0":            func(e *stream.Entry) { e.SeqNr = "0" },
		"negative seq_nr":     func(e *stream.Entry) { e.SeqNr = "-1" },
		"another partition":   func(e *stream.Entry) { e.PKey = "receipt-12" },
		"no shard":            func(e *stream.Entry) { e.PKey = "order-" },
		"not a type":          func(e *stream.Entry) { e.PKey, e.AID = "Order-1", "Order-"+ulidText },
		"not a tenant's code": func(e *stream.Entry) { e.PKey = "ACME!#order-1" },
		"two tenants":         func(e *stream.Entry) { e.PKey = "a#b#order-1" },
	} {
		t.Run(name, func(t *testing.T) {
			e := entry("")
			spoil(&e)
			if record, err := e.Record(); !errors.Is(err, stream.ErrNotAnEntry) {
				t.Errorf("got %+v and %v", record, err)
			}
		})
	}
}

// Any source converts an item to a record with one call; here it is a Lambda handler.
func ExampleEntry_Record() {
	e := stream.Entry{PKey: "acme#order-7", AID: "order-01H42KBHCWEBAGHA6WX8RP6X68", SeqNr: "1", Payload: []byte(`{}`)}
	record, err := e.Record()
	fmt.Println(record.Key, record.Key.Tenant, record.SeqNr, err)
	// Output: order-01H42KBHCWEBAGHA6WX8RP6X68 acme 1 <nil>
}
