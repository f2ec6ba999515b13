package eventcodec

import (
	"encoding/json"
	"reflect"
)

// Row is how events of one type are written and read.
type Row[E any] struct {
	name   string
	event  reflect.Type // nil: rows that only read
	encode func(E) any
	decode func([]byte) (E, error)
	// executor tells who caused an event that was written without its executor; nil: there are none.
	executor func(E) string
}

// Event is the row of events of type T. They are written under the name as the JSON of a W, whose fields must differ from
// the envelope's.
func Event[E, T, W any](name string, to func(T) W, from func(W) (T, error)) Row[E] {
	row := Former[E](name, from)
	row.event = reflect.TypeFor[T]()
	row.encode = func(event E) any { return to(any(event).(T)) }
	return row
}

// Former is the row of a name that is not written any more: its JSON is read as today's event.
func Former[E, T, W any](name string, from func(W) (T, error)) Row[E] {
	return Row[E]{name: name, decode: func(payload []byte) (E, error) {
		var none E
		var wire W
		if err := json.Unmarshal(payload, &wire); err != nil {
			return none, err
		}
		event, err := from(wire)
		if err != nil {
			return none, err
		}
		return any(event).(E), nil
	}}
}

// CausedBy lets the row's events be without an executor: the event tells who it was.
func (r Row[E]) CausedBy(executor func(E) string) Row[E] {
	r.executor = executor
	return r
}
