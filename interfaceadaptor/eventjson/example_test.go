package eventjson_test

import (
	"fmt"

	"example.com/threads/interfaceadaptor/eventjson"
)

// An event of the first version has no executor and ids as UUIDs. It is read in today's form.
func ExampleThreads() {
	payload := []byte(`{"type":"Created","id":"01H42KBHCW1BZG504J4ZXKA2F2","seq_nr":1,"name":"test",
		"aggregate_id":{"value":"01890535-c59c-72d5-08a8-dcea316374c8"},
		"members":{"members":{"01H42KBHCWA8NE32M49YH544H1":{"id":"01H42KBHCWA8NE32M49YH544H1",
			"user_account_id":{"value":"01890535-c59c-5b75-ff5c-f63a3485eb9d"},"role":"Admin"}}},
		"occurred_at":"2023-06-29T03:32:37.404481Z"}`)
	recorded, err := eventjson.Threads().Events.Decode(payload)
	fmt.Println(eventjson.Threads().Events.EventType(recorded.Event), recorded.SeqNr, recorded.Executor, err)
	// Output: ThreadCreated 1 01H42KBHCWBDTZYQ7P78T8BTWX <nil>
}
