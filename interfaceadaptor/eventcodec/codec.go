package eventcodec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"example.com/threads/usecase"
)

// Codec is the JSON of the events of one type of aggregate. It may be used concurrently.
type Codec[E any] struct {
	aggregate string
	canonical func(string) (string, error)
	byName    map[string]Row[E]
	byType    map[reflect.Type]Row[E]
}

// New makes the codec of an aggregate type from its table. canonical reads an identifier in any form in which one was ever
// written. A table with the same name or event twice is a fault of the program: it panics.
func New[E any](aggregateType string, canonical func(string) (string, error), table ...Row[E]) *Codec[E] {
	c := &Codec[E]{aggregate: aggregateType, canonical: canonical, byName: map[string]Row[E]{}, byType: map[reflect.Type]Row[E]{}}
	for _, row := range table {
		_, named := c.byName[row.name]
		_, typed := c.byType[row.event]
		if named || typed {
			panic(fmt.Sprintf("eventcodec: the table of %s has %s or its type twice", aggregateType, row.name))
		}
		c.byName[row.name] = row
		if row.event != nil {
			c.byType[row.event] = row
		}
	}
	return c
}

// Type is the aggregate type whose events these are.
func (c *Codec[E]) Type() string { return c.aggregate }

// EventType is the name that an event has in the journal; empty for one that the table forgot, which Encode refuses.
func (c *Codec[E]) EventType(event E) string { return c.byType[reflect.TypeOf(event)].name }

// Names are all names that can be read, sorted.
func (c *Codec[E]) Names() []string { return slices.Sorted(maps.Keys(c.byName)) }

// Encode writes an event and its envelope as JSON. What Decode would refuse, or take for something else, is an error: it
// would be acknowledged, and lost to everybody.
func (c *Codec[E]) Encode(recorded usecase.Recorded[E]) ([]byte, error) {
	row, known := c.byType[reflect.TypeOf(recorded.Event)]
	if !known {
		return nil, fmt.Errorf("the codec's table of %s has no row for event %T", c.aggregate, recorded.Event)
	}
	head, tail := headOf(row.name, recorded.Envelope), tailOf(recorded.Envelope)
	fields, err := marshal(row.encode(recorded.Event))
	if err == nil {
		err = c.readBack(recorded, row, head, fields, tail)
	}
	if err != nil {
		return nil, fmt.Errorf("event %s is not written, because no reader could use it: %w", recorded.EventID, err)
	}
	payload, err := marshal(head)
	if err != nil {
		return nil, err
	}
	rest, err := marshal(tail)
	return joined(joined(payload, fields), rest), err
}

// readBack makes sure that readers get what was to be said. It reads the parts, which takes a third of reading the whole.
func (c *Codec[E]) readBack(recorded usecase.Recorded[E], row Row[E], head head, fields []byte, tail tail) error {
	event, err := row.decode(fields)
	if err != nil {
		return err
	}
	envelope, err := envelope(c.aggregate, c.canonical, head, tail)
	switch {
	case err != nil:
		return err
	case envelope != recorded.Envelope || !reflect.DeepEqual(event, recorded.Event):
		return fmt.Errorf("it would be read as %+v in %+v", event, envelope)
	case !tail.isText():
		return errors.New("its envelope is not in UTF-8")
	}
	return nil
}

// marshal is json.Marshal without the escapes that only HTML needs.
func marshal(v any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}

// joined is the JSON object with the fields of both.
func joined(a, b []byte) []byte {
	if len(b) == len("{}") {
		return a
	}
	return append(append(a[:len(a)-1], ','), b[1:]...)
}

// Decode reads an event and its envelope, whichever version of its JSON it was written in. What it can't read - an
// unknown type, a field that is missing or broken - is a [DecodeError],
// and the event's EventID is as far as it could be made out.
func (c *Codec[E]) Decode(payload []byte) (usecase.Recorded[E], error) {
	recorded, err := c.decode(payload)
	if err != nil {
		broken := decodeError(payload, err)
		return usecase.Recorded[E]{Envelope: usecase.Envelope{EventID: broken.EventID}}, broken
	}
	return recorded, nil
}

func (c *Codec[E]) decode(payload []byte) (recorded usecase.Recorded[E], err error) {
	var wire struct {
		head
		tail
	}
	if err := json.Unmarshal(payload, &wire); err != nil {
		return recorded, err
	}
	row, known := c.byName[wire.Type]
	if !known {
		return recorded, errors.New("its type is unknown; was it written by a newer version of the program?")
	}
	if recorded.Event, err = row.decode(payload); err != nil {
		return recorded, err
	}
	if wire.Executor.Value == "" && row.executor != nil {
		wire.Executor.Value = id(row.executor(recorded.Event))
	}
	recorded.Envelope, err = envelope(c.aggregate, c.canonical, wire.head, wire.tail)
	return recorded, err
}

// DecodeError names the event that can't be read, as far as it could be made out. It does not unwrap to its cause: that a
// stored name is invalid is no fault of the one who asks now.
type DecodeError struct {
	EventID string
	Type    string
	SeqNr   uint64
	Cause   error
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("event %q (type %q, seq_nr %d) can't be read: %v", e.EventID, e.Type, e.SeqNr, e.Cause)
}

func decodeError(payload []byte, cause error) *DecodeError {
	e := &DecodeError{Cause: cause}
	var fields map[string]any
	_ = json.Unmarshal(payload, &fields) // whatever can be read helps; the cause is told either way
	e.EventID, _ = fields["id"].(string)
	e.Type, _ = fields["type"].(string)
	if number, ok := fields["seq_nr"].(float64); ok && number >= 0 {
		e.SeqNr = uint64(number)
	}
	return e
}
