package eventjson_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/tests/codectest"
	"example.com/threads/tests/kit"
)

// Every event in every version of its JSON that was ever written. Golden files that were released are never changed;
// package codectest writes the others.
var (
	aThread = parsed[thread.Thread]("01H42K4ABWQ5V2XQEP3A48VE0Z")
	ada     = parsed[ident.UserAccount]("01H42KBHCWA0000000000000AD")
	bob     = parsed[ident.UserAccount]("01H42KBHCWB0000000000000B0")
	adaIn   = parsed[thread.Member]("01H42KBHCWA000000000000ADM")
	bobIn   = parsed[thread.Member]("01H42KBHCWB000000000000B0M")
	hello   = parsed[thread.Message]("01H42KBHCWC000000000000HE1")
	tricky  = thread.RecordedText("<b>\"茶\" & 🍵</b>\n\t\u2028end")

	// By file. What follows a dash is a variant: fields were added later, so events exist with and without them.
	today = map[string]thread.Event{
		"ThreadCreated":           thread.Created{Name: writing.RecordedName("tea"), Members: []thread.Member{{ID: adaIn, User: ada, Role: thread.RoleAdmin}}},
		"ThreadCreated-code":      thread.Created{Name: writing.RecordedName("tea"), Code: thread.RecordedCode("THREAD-000007"), Members: []thread.Member{{ID: adaIn, User: ada, Role: thread.RoleAdmin}}},
		"ThreadRenamed":           thread.Renamed{Name: writing.RecordedName("coffee & cake")},
		"ThreadDeleted":           thread.Deleted{},
		"ThreadMemberAdded":       thread.MemberAdded{Member: thread.Member{ID: bobIn, User: bob, Role: thread.RoleMember}},
		"ThreadMemberRemoved":     thread.MemberRemoved{Member: bobIn, User: bob},
		"ThreadMemberRoleChanged": thread.MemberRoleChanged{Member: bobIn, User: bob, Role: thread.RoleAdmin},
		"ThreadMessagePosted":     thread.MessagePosted{Message: thread.Message{ID: hello, Sender: bob, Text: tricky}},
		"ThreadMessageEdited":     thread.MessageEdited{Message: thread.Message{ID: hello, Sender: bob, Text: thread.RecordedText("hello!")}},
		"ThreadMessageDeleted":    thread.MessageDeleted{Message: hello},
	}
)

func parsed[T any](text string) ident.Of[T] {
	id, err := ident.Parse[T](text)
	if err != nil {
		panic(err)
	}
	return id
}

func recorded(t *testing.T, event thread.Event) es.Recorded[thread.Event] {
	tenant, err := es.ParseTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	return es.Recorded[thread.Event]{
		Envelope: es.Envelope{
			EventID:       parsed[thread.Event]("01H42KBHCW1BZG504J4ZXKA2F2").String(),
			AggregateType: thread.AggregateType,
			AggregateID:   aThread.String(),
			SeqNr:         7,
			OccurredAt:    time.Date(2023, 6, 29, 3, 32, 37, 404481000, time.UTC),
			CommandID:     "01H42KBHCWC0MMAND000000000",
			Caller: es.Caller{
				Tenant: tenant, Executor: ada.String(), RequestID: "request-1", CorrelationID: "correlation-1", CausationID: "causation-1",
				Source: "write-api /threads/post_message", ClientIP: "192.0.2.7",
			},
		},
		Event: event,
	}
}

func TestEventsOfToday(t *testing.T) {
	kit.EveryField(t, "events of today", slices.Collect(maps.Values(today))...)
	for name, event := range today {
		t.Run(name, func(t *testing.T) {
			want := recorded(t, event)
			encoded, err := eventjson.Threads().Events.Encode(want)
			if err != nil {
				t.Fatal(err)
			}
			checkGolden(t, name+".json", encoded)
			got, err := eventjson.Threads().Events.Decode(golden(t, name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := kit.Diff(want, got); diff != "" {
				t.Error("decoded (-want +got):\n" + diff)
			}
		})
	}
}

func TestTheFirstVersionOfThreadCreated(t *testing.T) {
	got, err := eventjson.Threads().Events.Decode(golden(t, "Created.json"))
	if err != nil {
		t.Fatal(err)
	}
	user := parsed[ident.UserAccount]("01890535-c59c-5b75-ff5c-f63a3485eb9d")
	want := es.Recorded[thread.Event]{
		Envelope: es.Envelope{
			EventID:       parsed[thread.Event]("01H42KBHCW1BZG504J4ZXKA2F2").String(),
			AggregateType: thread.AggregateType,
			AggregateID:   parsed[thread.Thread]("01890535-c59c-72d5-08a8-dcea316374c8").String(),
			SeqNr:         1,
			OccurredAt:    time.Date(2023, 6, 29, 3, 32, 37, 404481000, time.UTC),
			Caller:        es.Caller{Executor: user.String()},
		},
		Event: thread.Created{
			Name:    writing.RecordedName("test"),
			Members: []thread.Member{{ID: parsed[thread.Member]("01H42KBHCWA8NE32M49YH544H1"), User: user, Role: thread.RoleAdmin}},
		},
	}
	if diff := kit.Diff(want, got); diff != "" {
		t.Error("decoded (-want +got):\n" + diff)
	}
}

func TestSnapshotOfToday(t *testing.T) {
	second := thread.MessagePosted{Message: thread.Message{ID: parsed[thread.Message]("01H42KBHCWC000000000000HE2"), Sender: ada, Text: tricky}}
	state := thread.Thread{}.Replay(today["ThreadCreated"], today["ThreadMemberAdded"], today["ThreadMessagePosted"], second, today["ThreadMessageEdited"])
	encoded, err := eventjson.Threads().Snapshots.Encode(aThread.String(), 5, state)
	if err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "snapshot-5.json", encoded)
	id, version, got, err := eventjson.Threads().Snapshots.Decode(golden(t, "snapshot-5.json"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := kit.Diff(state.Memento(), got.Memento()); diff != "" || id != aThread.String() || version != 5 {
		t.Errorf("decoded state of %s at %d (-want +got):\n%s", id, version, diff)
	}
}

// The first document's sample is the state after the first event, so all its members came with that.
func TestTheFirstVersionOfSnapshots(t *testing.T) {
	id, version, got, err := eventjson.Threads().Snapshots.Decode(golden(t, "snapshot-1.json"))
	if err != nil {
		t.Fatal(err)
	}
	creator := thread.Member{ID: parsed[thread.Member]("01H42KNM5M2QEW700VCW4J2KYE"), User: parsed[ident.UserAccount]("0189053a-d0b4-5ef0-bfe9-4d57d2ed66df"), Role: thread.RoleAdmin}
	want := thread.Thread{}.Apply(thread.Created{Name: writing.RecordedName("test"), Members: []thread.Member{creator}}).Memento()
	if diff := kit.Diff(want, got.Memento()); diff != "" || id != parsed[thread.Thread]("0189053a-d0b4-8f9b-4fb6-db91f72ccf16").String() || version != 1 {
		t.Errorf("decoded state of %s at %d (-want +got):\n%s", id, version, diff)
	}
}

func golden(t *testing.T, name string) []byte {
	t.Helper()
	return codectest.Golden(t, "thread/"+name)
}

func checkGolden(t *testing.T, name string, encoded []byte) {
	t.Helper()
	codectest.CheckGolden(t, "thread/"+name, encoded)
}
