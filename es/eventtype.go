package es

import "reflect"

// EventType defines how events of one type are encoded and decoded.
type EventType[E any] struct {
	name   string
	event  reflect.Type // nil for rows that only decode
	encode func(E) any
	decode func([]byte) (E, error)
	// executor returns the executor of an event that was written without one; nil if there are no such events.
	executor func(E) string
}

// Event returns the row of events of type T. They are written under the name, as the JSON of a W, whose field names
// must differ from the envelope's.
func Event[E, T, W any](name string, to func(T) W, from func(W) (T, error)) EventType[E] {
	row := Former[E](name, from)
	row.event = reflect.TypeFor[T]()
	row.encode = func(event E) any { return to(any(event).(T)) }
	return row
}

// Former returns the row of a name that is no longer written: its JSON is decoded as the current event.
func Former[E, T, W any](name string, from func(W) (T, error)) EventType[E] {
	return EventType[E]{name: name, decode: func(payload []byte) (E, error) {
		var none E
		var wire W
		if err := unmarshal(payload, &wire); err != nil {
			return none, err
		}
		event, err := from(wire)
		if err != nil {
			return none, err
		}
		return any(event).(E), nil
	}}
}

// CausedBy allows the row's events to have no executor: the function returns it from the event.
func (r EventType[E]) CausedBy(executor func(E) string) EventType[E] {
	r.executor = executor
	return r
}
