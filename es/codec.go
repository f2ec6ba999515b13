package es

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/segmentio/encoding/json"
)

// Codec encodes and decodes the events of one aggregate type as JSON. It may be used concurrently.
type Codec[E any] struct {
	aggregate string
	canonical func(string) (string, error)
	byName    map[string]EventType[E]
	byType    map[reflect.Type]EventType[E]
}

// NewCodec returns the codec of an aggregate type for a table of events. canonical converts an identifier from every
// form in which one was ever written; nil: there was one form. It panics if the table has a name or event type twice,
// which is a programming error.
func NewCodec[E any](aggregateType string, canonical func(string) (string, error), table ...EventType[E]) *Codec[E] {
	if canonical == nil {
		canonical = func(text string) (string, error) { return text, nil }
	}
	c := &Codec[E]{aggregate: aggregateType, canonical: canonical, byName: map[string]EventType[E]{}, byType: map[reflect.Type]EventType[E]{}}
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

// Type returns the aggregate type of the events.
func (c *Codec[E]) Type() string { return c.aggregate }

// EventType returns the event's name in the journal; empty if the table has no row for it, in which case Encode fails.
func (c *Codec[E]) EventType(event E) string { return c.byType[reflect.TypeOf(event)].name }

// Describe returns the event's name and its own fields, without the envelope, as they are written today.
func (c *Codec[E]) Describe(event E) (name string, fields []byte, err error) {
	row, known := c.byType[reflect.TypeOf(event)]
	if !known {
		return "", nil, fmt.Errorf("the codec's table of %s has no row for event %T", c.aggregate, event)
	}
	fields, err = marshal(row.encode(event))
	return row.name, fields, err
}

// Names returns all names that can be decoded, sorted.
func (c *Codec[E]) Names() []string { return slices.Sorted(maps.Keys(c.byName)) }

// Encode encodes an event and its envelope as JSON. It fails if Decode would reject the result or return a different
// event: otherwise the event would be acknowledged but unreadable.
func (c *Codec[E]) Encode(recorded Recorded[E]) ([]byte, error) {
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
		return nil, fmt.Errorf("event %s was not written because it could not be read back: %w", recorded.EventID, err)
	}
	payload, err := marshal(head)
	if err != nil {
		return nil, err
	}
	rest, err := marshal(tail)
	return joined(joined(payload, fields), rest), err
}

// readBack checks that decoding returns the same event. It decodes the parts, which takes a third of the time of
// decoding the whole.
func (c *Codec[E]) readBack(recorded Recorded[E], row EventType[E], head envelopeHead, fields []byte, tail envelopeTail) error {
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

// marshal is json.Marshal without HTML escapes.
func marshal(v any) ([]byte, error) { return json.Append(make([]byte, 0, 512), v, json.SortMapKeys) }

// unmarshal is json.Unmarshal, but upper and lower case in names are different, which takes a sixth less time.
func unmarshal(data []byte, into any) error {
	rest, err := json.Parse(data, into, json.DontMatchCaseInsensitiveStructFields)
	if err == nil && len(rest) > 0 {
		err = errors.New("there is something after its end")
	}
	return err
}

// joined returns a JSON object with the fields of both objects.
func joined(a, b []byte) []byte {
	if len(b) == len("{}") {
		return a
	}
	return append(append(a[:len(a)-1], ','), b[1:]...)
}

// Decode decodes an event and its envelope from any version of its JSON. On failure (an unknown type, a missing or
// broken field) it returns a [DecodeError], and an event with the EventID if that could be read.
func (c *Codec[E]) Decode(payload []byte) (Recorded[E], error) {
	recorded, err := c.decode(payload)
	if err != nil {
		broken := decodeError(payload, err)
		return Recorded[E]{Envelope: Envelope{EventID: broken.EventID}}, broken
	}
	return recorded, nil
}

func (c *Codec[E]) decode(payload []byte) (recorded Recorded[E], err error) {
	var wire struct {
		envelopeHead
		envelopeTail
	}
	if err := unmarshal(payload, &wire); err != nil {
		return recorded, err
	}
	row, known := c.byName[wire.Type]
	if !known {
		return recorded, errors.New("its type is unknown; a newer version of the program may have written it")
	}
	if recorded.Event, err = row.decode(payload); err != nil {
		return recorded, err
	}
	if wire.Executor.Value == "" && row.executor != nil {
		wire.Executor.Value = id(row.executor(recorded.Event))
	}
	recorded.Envelope, err = envelope(c.aggregate, c.canonical, wire.envelopeHead, wire.envelopeTail)
	return recorded, err
}

// DecodeError identifies an event that cannot be decoded, as far as its fields could be read. It does not unwrap to its
// cause: an invalid stored value is not an error of the current caller.
type DecodeError struct {
	EventID string
	Type    string
	SeqNr   uint64
	Cause   error
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("event %q (type %q, seq_nr %d) can't be read: %v", e.EventID, e.Type, e.SeqNr, e.Cause)
}

// EventName returns an event's name in the journal without decoding the event. It is empty if the payload does not
// begin with the name, as [Codec.Encode] writes it.
func EventName(payload []byte) string {
	rest, begins := bytes.CutPrefix(payload, []byte(`{"type":"`))
	name, _, ends := bytes.Cut(rest, []byte(`"`))
	if !begins || !ends || bytes.ContainsRune(name, '\\') {
		return ""
	}
	return string(name)
}

func decodeError(payload []byte, cause error) *DecodeError {
	e := &DecodeError{Cause: cause}
	var fields map[string]any
	_ = json.Unmarshal(payload, &fields) // best effort: fields that can be read are reported
	e.EventID, _ = fields["id"].(string)
	e.Type, _ = fields["type"].(string)
	if number, ok := fields["seq_nr"].(float64); ok && number >= 0 {
		e.SeqNr = uint64(number)
	}
	return e
}
