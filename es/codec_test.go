package es_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"example.com/threads/es"
)

// Old events have no trace.
func TestTheTraceOfAnEvent(t *testing.T) {
	codec := es.NewCodec("box", nil, es.Event[string]("Opened",
		func(e string) struct{ By string } { return struct{ By string }{e} },
		func(fields struct{ By string }) (string, error) { return fields.By, nil }))
	for _, traceparent := range []string{"", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"} {
		recorded := es.Recorded[string]{
			Envelope: es.Envelope{AggregateType: "box", SeqNr: 1, OccurredAt: time.Unix(1, 0).UTC(), Traceparent: traceparent}, Event: "ada",
		}
		payload, err := codec.Encode(recorded)
		if err != nil || strings.Contains(string(payload), "traceparent") != (traceparent != "") {
			t.Fatalf("%s: %v", payload, err)
		}
		if got, err := codec.Decode(payload); err != nil || got != recorded {
			t.Errorf("%s is read as %+v, %v", payload, got, err)
		}
	}
}

func TestIdentifiersInEveryForm(t *testing.T) {
	for written, want := range map[string]string{
		`"abc"`: "abc", `{"value":"abc"}`: "abc", `{ "value": "abc" }`: "abc", `{"other":1,"value":"abc"}`: "abc", `"a\u0062c"`: "abc", `{"value":"a\"c"}`: `a"c`,
		`""`: "", `{"value":""}`: "", `{}`: "", `{"value":"a","value":"b"}`: "b",
	} {
		if got, err := es.IDText([]byte(written)); got != want || err != nil {
			t.Errorf("%s: %q, %v", written, got, err)
		}
	}
	for _, written := range []string{`7`, `[]`, `{"value":7}`, `{"value":{"value":"abc"}}`, `true`} {
		if got, err := es.IDText([]byte(written)); err == nil {
			t.Errorf("%s: %q", written, got)
		}
	}
}

// A contradiction in the table must be found when the program starts, not when the second entry is used.
func TestATableThatContradictsItself(t *testing.T) {
	type done struct{}
	former := es.Former[any]("Done", func(done) (done, error) { return done{}, nil })
	type opened struct {
		Name   string `json:"name"`
		Source string `json:"source"`
	}
	for about, table := range map[string][]es.EventType[any]{
		"an event twice": {es.Plain[any, done]("Done"), es.Plain[any, done]("Finished")}, "a name twice": {es.Plain[any, done]("Done"), former},
		"a field of the envelope": {es.Plain[any, opened]("Opened")},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was accepted", about)
				}
			}()
			es.NewCodec("task", nil, table...)
		}()
	}
	codec := es.NewCodec("task", nil, es.Plain[any, done]("Finished"), former)
	if codec.EventType(done{}) != "Finished" || codec.EventType(7) != "" {
		t.Error("names are mixed up")
	}
}

// JSON can't represent invalid UTF-8: the text would be read back changed.
func TestAnEnvelopeThatJSONWouldChange(t *testing.T) {
	codec := es.NewCodec("task", nil, es.Plain[any, struct{}]("Done"))
	recorded := es.Recorded[any]{Event: struct{}{}, Envelope: es.Envelope{
		EventID: "e", AggregateType: "task", AggregateID: "a", SeqNr: 1, OccurredAt: time.Unix(1, 0).UTC(), Caller: es.Caller{Executor: "x"},
	}}
	if _, err := codec.Encode(recorded); err != nil {
		t.Error(err)
	}
	recorded.CorrelationID = "\xff"
	if _, err := codec.Encode(recorded); err == nil {
		t.Error("the envelope was accepted")
	}
}

func TestTheNameOfAnEventIsReadWithoutDecodingIt(t *testing.T) {
	codec := es.NewCodec("task", nil, es.Plain[any, struct{}]("Done"))
	payload, err := codec.Encode(es.Recorded[any]{Event: struct{}{}, Envelope: es.Envelope{
		EventID: "e", AggregateType: "task", AggregateID: "a", SeqNr: 1, OccurredAt: time.Unix(1, 0).UTC(), Caller: es.Caller{Executor: "x"},
	}})
	if got := es.EventName(payload); got != "Done" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for written, want := range map[string]string{
		`{"type":"Done", cut short`: "Done", `{"type":"Done`: "", `{"type":"Do\u006ee"}`: "", `{"id":"e","type":"Done"}`: "", ` {"type":"Done"}`: "", ``: "",
	} {
		if got := es.EventName([]byte(written)); got != want {
			t.Errorf("%s: %q, expected %q", written, got, want)
		}
	}
}

type weighed struct {
	Grams int    `json:"grams"`
	Scale string `json:"scale"`
}

func TestAMissingFieldOfAWholeEvent(t *testing.T) {
	lenient := es.NewCodec("parcel", nil, es.Plain[weighed, weighed]("Weighed"))
	whole := es.NewCodec("parcel", nil, es.Plain[weighed, weighed]("Weighed").Whole())
	payload, err := whole.Encode(es.Recorded[weighed]{Event: weighed{}, Envelope: es.Envelope{
		EventID: "1", AggregateType: "parcel", AggregateID: "a", SeqNr: 1, OccurredAt: time.Unix(1, 0).UTC(), Caller: es.Caller{Executor: "ada"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, without := range []string{`"grams":0,`, `"scale":""`} {
		given := bytes.Replace(payload, []byte(without), []byte(strings.Replace(without, `""`, "null", 1)), 1)
		if strings.HasSuffix(without, ",") {
			given = bytes.Replace(payload, []byte(without), nil, 1)
		}
		if _, err := whole.Decode(given); err == nil || bytes.Equal(given, payload) {
			t.Errorf("%s is read", given)
		}
		if got, err := lenient.Decode(given); err != nil || got.Event != (weighed{}) {
			t.Errorf("%s is read as %+v, %v", given, got.Event, err)
		}
	}
}

func TestAMissingFieldOfACompleteEvent(t *testing.T) {
	type wire struct {
		Scale struct {
			Name string `json:"name"`
		} `json:"scale"`
		Grams int `json:"grams,omitempty"`
	}
	codec := es.NewCodec("parcel", nil, es.Event[weighed]("Weighed",
		func(e weighed) (w wire) {
			w.Scale.Name, w.Grams = e.Scale, e.Grams
			return w
		},
		es.Complete(func(w wire) weighed { return weighed{w.Grams, w.Scale.Name} })))
	recorded := es.Recorded[weighed]{Event: weighed{Scale: "left"}, Envelope: es.Envelope{
		EventID: "1", AggregateType: "parcel", AggregateID: "a", SeqNr: 1, OccurredAt: time.Unix(1, 0).UTC(), Caller: es.Caller{Executor: "ada"},
	}}
	payload, err := codec.Encode(recorded)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := codec.Decode(payload); err != nil || got.Event != recorded.Event {
		t.Errorf("got %+v, %v", got.Event, err)
	}
	if _, err := codec.Decode(bytes.Replace(payload, []byte(`"left"`), []byte(`""`), 1)); err == nil || !strings.Contains(err.Error(), "name is missing") {
		t.Errorf("got %v", err)
	}
	recorded.Event.Scale = ""
	if _, err := codec.Encode(recorded); err == nil {
		t.Error("what can't be read back is written")
	}
}

// JSON would leave the field out, and a state without it would be decided on.
func TestASnapshotThatWouldLackAField(t *testing.T) {
	type shelf struct{ pieces int }
	codec := es.Aggregate[shelf, int, int]{}.StateCodec()
	if payload, err := codec.Encode("01H42K4ABWQ5V2XQEP3A48VE0Z", 1, shelf{5}); err == nil || !strings.Contains(err.Error(), "pieces") {
		t.Errorf("%s, %v", payload, err)
	}
}
