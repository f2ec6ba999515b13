package task

import (
	"errors"
	"fmt"

	"github.com/segmentio/encoding/json"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
)

// Events returns the codec of tasks' events, which are written as their own JSON.
func Events() *es.Codec[Event] {
	return es.NewCodec(AggregateType, ident.Canonical,
		whole[Created]("TaskCreated"), whole[Started]("TaskStarted"), whole[Progressed]("TaskProgressed"), whole[Finished]("TaskFinished"))
}

// whole is a row of the codec whose JSON has every field of a T: a missing field is an error, not zero.
func whole[T any](name string) es.EventType[Event] {
	encode := func(event T) json.RawMessage {
		encoded, _ := json.Append(nil, event, 0) // plain values always encode
		return encoded
	}
	return es.Event[Event](name, encode, func(payload json.RawMessage) (event T, err error) {
		var given, all map[string]json.RawMessage
		if err := errors.Join(json.Unmarshal(encode(event), &all), json.Unmarshal(payload, &given), json.Unmarshal(payload, &event)); err != nil {
			return event, err
		}
		for field := range all {
			if value := string(given[field]); value == "" || value == "null" {
				return event, fmt.Errorf("%s must be there", field)
			}
		}
		return event, nil
	})
}
