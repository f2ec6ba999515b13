package task

import (
	"errors"
	"fmt"

	"github.com/segmentio/encoding/json"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
)

// Events returns the codec of tasks' events.
func Events() *es.Codec[Event] {
	return es.NewCodec(AggregateType, ident.Canonical,
		event("TaskCreated",
			func(e Created) wireRequest { return wireRequest(e.Request) },
			func(w wireRequest) (Created, error) { return Created{Request(w)}, nil }),
		es.Plain[Event, Started]("TaskStarted"),
		event("TaskProgressed",
			func(e Progressed) wireProgress { return wireProgress(e.Progress) },
			func(w wireProgress) (Progressed, error) { return Progressed{Progress(w)}, nil }),
		event("TaskFinished",
			func(e Finished) wireFinished { return wireFinished{e.Status, e.Message, wireProgress(e.Progress)} },
			func(w wireFinished) (Finished, error) {
				if w.Status != Succeeded && w.Status != Failed && w.Status != Cancelled {
					return Finished{}, errors.New("status must be succeeded, failed or cancelled")
				}
				return Finished{Status: w.Status, Message: w.Message, Progress: Progress(w.wireProgress)}, nil
			}),
	)
}

// The JSON of [Request], [Progress] and [Finished].
type (
	wireRequest struct {
		Creator   ident.UserID `json:"created_by"`
		Kind      Kind         `json:"kind"`
		Subject   string       `json:"subject"`
		Parts     uint64       `json:"parts"`
		Total     uint64       `json:"total"`
		ForOthers bool         `json:"for_others"`
	}
	wireProgress struct {
		Parts    uint64 `json:"parts"`
		Done     uint64 `json:"done"`
		Total    uint64 `json:"total"`
		Rejected uint64 `json:"rejected"`
	}
	wireFinished struct {
		Status  Status `json:"status"`
		Message string `json:"message"`
		wireProgress
	}
)

// event is a row of the codec whose JSON has every field of a W: a missing field is an error, not zero.
func event[T Event, W any](name string, to func(T) W, from func(W) (T, error)) es.EventType[Event] {
	encode := func(v any) json.RawMessage {
		encoded, _ := json.Append(nil, v, 0) // plain values always encode
		return encoded
	}
	return es.Event[Event](name, func(e T) json.RawMessage { return encode(to(e)) }, func(payload json.RawMessage) (event T, err error) {
		var w W
		var given, all map[string]json.RawMessage
		if err := errors.Join(json.Unmarshal(encode(w), &all), json.Unmarshal(payload, &given), json.Unmarshal(payload, &w)); err != nil {
			return event, err
		}
		for field := range all {
			if value := string(given[field]); value == "" || value == "null" {
				return event, fmt.Errorf("%s must be there", field)
			}
		}
		return from(w)
	})
}
