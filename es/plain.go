package es

import "encoding/json"

// Plain returns the row of events of type T that are written as their own JSON. See [Event] for a form that differs
// from the type.
func Plain[E, T any](name string) EventType[E] {
	same := func(event T) (T, error) { return event, nil }
	return Event[E](name, func(event T) T { return event }, same)
}

// PlainSnapshots encodes states as their own JSON, which also estimates their size: it is for small states.
type PlainSnapshots[S any] struct{}

type plainSnapshot[S any] struct {
	ID      string `json:"id"`
	Version uint64 `json:"version"`
	State   S      `json:"state"`
}

// Encode implements [SnapshotCodec].
func (PlainSnapshots[S]) Encode(id string, version uint64, state S) ([]byte, error) {
	return json.Marshal(plainSnapshot[S]{id, version, state})
}

// Decode implements [SnapshotCodec].
func (PlainSnapshots[S]) Decode(payload []byte) (id string, version uint64, state S, err error) {
	var found plainSnapshot[S]
	err = json.Unmarshal(payload, &found)
	return found.ID, found.Version, found.State, err
}

// Size implements [SnapshotCodec].
func (PlainSnapshots[S]) Size(state S) int {
	text, _ := json.Marshal(state) // a state without JSON fails in Encode
	return len(text)
}
