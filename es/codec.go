package es

import (
	"bytes"
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/segmentio/encoding/json" // decodes an event in a third of encoding/json's time
)

// EventType defines how events of one type are encoded and decoded.
type EventType[E any] struct {
	name   string
	event  reflect.Type // nil for rows that only decode
	fields []string     // that are written
	encode func(E) any
	decode func([]byte) (E, error)
	// executor returns that of an event which was written without one; nil if there are no such events.
	executor func(E) string
}

// Event returns the row of events of type T. They are written under the name, as the JSON of a W, whose field names
// must differ from those of the [Envelope].
func Event[E, T, W any](name string, to func(T) W, from func(W) (T, error)) EventType[E] {
	row := Former[E](name, from)
	row.event, row.fields = reflect.TypeFor[T](), fieldsOf(reflect.TypeFor[W]())
	row.encode = func(event E) any { return to(any(event).(T)) }
	return row
}

// Former returns the row of a name that is no longer written: its JSON is decoded as the current event.
func Former[E, T, W any](name string, from func(W) (T, error)) EventType[E] {
	return EventType[E]{name: name, decode: func(payload []byte) (none E, err error) {
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

// Plain returns the row of events of type T that are written as their own JSON. E is the set that T belongs to; where
// there is only one type of events, it is the set, too.
func Plain[E, T any](name string) EventType[E] {
	same := func(event T) (T, error) { return event, nil }
	return Event[E](name, func(event T) T { return event }, same)
}

// Whole makes an event's JSON need all fields. A missing field is an error; without Whole it would be zero. [Complete]
// is for what is never zero.
func (r EventType[E]) Whole() EventType[E] {
	decode, zero := r.decode, reflect.Zero(r.event).Interface().(E)
	r.decode = func(payload []byte) (none E, err error) {
		var given, written map[string]any
		fields, err := marshal(r.encode(zero))
		if err := errors.Join(err, unmarshal(fields, &written), unmarshal(payload, &given)); err != nil {
			return none, err
		}
		for name := range written {
			if given[name] == nil {
				return none, fmt.Errorf("%s must be there", name)
			}
		}
		return decode(payload)
	}
	return r
}

// Complete returns from with an error for JSON in which a field is missing or zero, unless it has omitempty.
func Complete[W, T any](from func(W) T) func(W) (T, error) {
	required := requiredOf(reflect.TypeFor[W]())
	return func(w W) (event T, err error) {
		read := reflect.ValueOf(w)
		for _, field := range required {
			if read.FieldByIndex(field.Index).IsZero() {
				return event, errors.New(field.Name + " is missing")
			}
		}
		return from(w), nil
	}
}

// requiredOf returns the fields without omitempty, also those of fields.
func requiredOf(t reflect.Type, in ...int) (required []reflect.StructField) {
	for field := range t.Fields() {
		name, option, _ := strings.Cut(field.Tag.Get("json"), ",")
		field.Name, field.Index = name, append(in[:len(in):len(in)], field.Index...)
		_, isText := reflect.New(field.Type).Interface().(encoding.TextUnmarshaler)
		switch {
		case option == "omitempty":
		case field.Type.Kind() == reflect.Struct && !isText:
			required = append(required, requiredOf(field.Type, field.Index...)...)
		default:
			required = append(required, field)
		}
	}
	return required
}

// Codec encodes and decodes the events of one aggregate type as JSON. It may be used concurrently.
type Codec[E any] struct {
	aggregate string
	canonical func(string) (string, error)
	byName    map[string]EventType[E]
	byType    map[reflect.Type]EventType[E]
}

// NewCodec returns the codec of an aggregate type for a table of events. canonical converts an identifier from every
// form in which one was ever written; nil: there was one form. It panics if the table has a name or event type twice,
// or writes a field that has the name of the envelope's.
func NewCodec[E any](aggregateType string, canonical func(string) (string, error), table ...EventType[E]) *Codec[E] {
	if canonical == nil {
		canonical = func(text string) (string, error) { return text, nil }
	}
	c := &Codec[E]{aggregate: aggregateType, canonical: canonical, byName: map[string]EventType[E]{}, byType: map[reflect.Type]EventType[E]{}}
	for _, row := range table {
		_, named := c.byName[row.name]
		_, typed := c.byType[row.event]
		if named || typed {
			panic(fmt.Sprintf("es: the table of %s has %s or its type twice", aggregateType, row.name))
		}
		for _, field := range row.fields {
			if slices.Contains(envelopeFields, field) {
				panic(fmt.Sprintf("es: the event %s of %s has a field %q, and so has the envelope: call it something else", row.name, aggregateType, field))
			}
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

// Encode encodes an event and its envelope as JSON. It fails if Decode would not return the same event. It decodes the
// two parts and not the whole, which takes a third of the time.
func (c *Codec[E]) Encode(recorded Recorded[E]) ([]byte, error) {
	name, fields, err := c.Describe(recorded.Event)
	if err != nil {
		return nil, err
	}
	written := wireOf(name, recorded.Envelope)
	head, _ := marshal(written.envelopeHead) // texts and a number: it never fails
	tail, _ := marshal(written.envelopeTail)
	read, err := c.read(written, fields)
	if err == nil && (!reflect.DeepEqual(read, recorded) || !written.isText()) {
		err = fmt.Errorf("it would be read as something else than %+v", recorded)
	}
	if err != nil {
		return nil, fmt.Errorf("event %s was not written because it could not be read back: %w", recorded.EventID, err)
	}
	return joined(joined(head, fields), tail), nil
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

// Decode decodes an event and its envelope from any version of its JSON. With an error it returns the EventID if that
// could be read. The error does not unwrap to its cause: an invalid stored value is not an error of the current caller.
func (c *Codec[E]) Decode(payload []byte) (Recorded[E], error) {
	var written wire
	var recorded Recorded[E]
	err := unmarshal(payload, &written)
	if err == nil {
		recorded, err = c.read(written, payload)
	}
	if err != nil {
		var fields map[string]any
		_ = json.Unmarshal(payload, &fields) // best effort: fields that can be read are reported
		id, _ := fields["id"].(string)
		recorded = Recorded[E]{Envelope: Envelope{EventID: id}}
		err = fmt.Errorf("event %q (type %v, seq_nr %v) can't be read: %v", id, fields["type"], fields["seq_nr"], err) //nolint:errorlint // see above
	}
	return recorded, err
}

// DecodeEvent is Decode for an [AnyAggregate].
func (c *Codec[E]) DecodeEvent(payload []byte) (Recorded[any], error) {
	recorded, err := c.Decode(payload)
	return Recorded[any]{Envelope: recorded.Envelope, Event: recorded.Event}, err
}

// read returns the event in fields, with its envelope.
func (c *Codec[E]) read(written wire, fields []byte) (recorded Recorded[E], err error) {
	row, known := c.byName[written.Type]
	if !known {
		return recorded, errors.New("its type is unknown; a newer version of the program may have written it")
	}
	if recorded.Event, err = row.decode(fields); err != nil {
		return recorded, err
	}
	if written.Executor.Value == "" && row.executor != nil {
		written.Executor.Value = id(row.executor(recorded.Event))
	}
	recorded.Envelope, err = written.envelope(c.aggregate, c.canonical)
	return recorded, err
}

// EventName returns an event's name without decoding the event; empty if the payload does not begin with it.
func EventName(payload []byte) string {
	rest, begins := bytes.CutPrefix(payload, []byte(`{"type":"`))
	name, _, ends := bytes.Cut(rest, []byte(`"`))
	if !begins || !ends || bytes.ContainsRune(name, '\\') {
		return ""
	}
	return string(name)
}

// occurredAtFormat is RFC 3339 in UTC with microseconds.
const occurredAtFormat = "2006-01-02T15:04:05.000000Z07:00"

// wire is the envelope's JSON: what comes before the event's own fields, and what comes after them.
type (
	wire struct {
		envelopeHead
		envelopeTail
	}
	envelopeHead struct {
		Type      string   `json:"type"`
		ID        id       `json:"id"`
		Aggregate objectID `json:"aggregate_id"`
		SeqNr     uint64   `json:"seq_nr"`
	}
	envelopeTail struct {
		Executor      objectID `json:"executor_id"`
		OccurredAt    string   `json:"occurred_at"`
		Tenant        string   `json:"tenant_code"`
		CommandID     string   `json:"command_id,omitempty"`
		CorrelationID string   `json:"correlation_id,omitempty"`
		CausationID   string   `json:"causation_id,omitempty"`
		Source        string   `json:"source,omitempty"`
		ClientIP      string   `json:"client_ip,omitempty"`
		RequestID     string   `json:"request_id,omitempty"`
		Traceparent   string   `json:"traceparent,omitempty"`
	}
)

var envelopeFields = fieldsOf(reflect.TypeFor[wire]())

// fieldsOf returns the names of a struct's fields in JSON; none for another type.
func fieldsOf(t reflect.Type) (names []string) {
	if t.Kind() != reflect.Struct {
		return nil
	}
	for _, field := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); field.IsExported() && !field.Anonymous {
			names = append(names, cmp.Or(name, field.Name))
		}
	}
	return names
}

// id is an identifier written as text; {"value": text} can be read too.
type id string

// objectID is an identifier written as {"value": text}; plain text can be read too.
type objectID struct {
	Value id `json:"value"`
}

// UnmarshalJSON reads both forms.
func (i *id) UnmarshalJSON(data []byte) error {
	text, err := IDText(data)
	*i = id(text)
	return err
}

// UnmarshalJSON reads both forms.
func (o *objectID) UnmarshalJSON(data []byte) error { return o.Value.UnmarshalJSON(data) }

// IDText returns the text of an identifier in JSON: a string, or {"value": string}. It parses the current forms without
// the JSON decoder, which would double the time to decode an event.
func IDText(data []byte) (string, error) {
	plain, isObject := bytes.CutPrefix(data, []byte(`{"value":`))
	if isObject {
		plain = bytes.TrimSuffix(plain, []byte("}"))
	}
	if last := len(plain) - 1; last > 0 && plain[0] == '"' && bytes.IndexByte(plain[1:], '"') == last-1 && bytes.IndexByte(plain, '\\') < 0 {
		return string(plain[1:last]), nil
	}
	var object struct {
		Value string `json:"value"`
	}
	var into any = &object.Value
	if data[0] == '{' {
		into = &object
	}
	if err := json.Unmarshal(data, into); err != nil {
		return "", errors.New(`an id must be a string or {"value": string}`)
	}
	return object.Value, nil
}

func wireOf(name string, e Envelope) wire {
	return wire{
		envelopeHead{Type: name, ID: id(e.EventID), Aggregate: objectID{id(e.AggregateID)}, SeqNr: e.SeqNr},
		envelopeTail{
			Executor: objectID{id(e.Executor)}, OccurredAt: e.OccurredAt.UTC().Format(occurredAtFormat), Tenant: e.Tenant.String(),
			CommandID: e.CommandID, CorrelationID: e.CorrelationID, CausationID: e.CausationID,
			Source: e.Source, ClientIP: e.ClientIP, RequestID: e.RequestID, Traceparent: e.Traceparent,
		},
	}
}

// isText reports whether all texts are in UTF-8, or JSON would change them. The tenant is, because it was parsed.
func (w wire) isText() bool {
	ids := string(w.ID + " " + w.Aggregate.Value + " " + w.Executor.Value)
	return utf8.ValidString(strings.Join([]string{ids, w.CommandID, w.CorrelationID, w.CausationID, w.Source, w.ClientIP, w.RequestID, w.Traceparent}, " "))
}

// envelope decodes an envelope, also from earlier versions of the program; canonical converts its ids.
func (w wire) envelope(aggregateType string, canonical func(string) (string, error)) (Envelope, error) {
	occurredAt, err := time.Parse(time.RFC3339Nano, w.OccurredAt)
	if err != nil {
		return Envelope{}, fmt.Errorf("occurred_at: %w", err)
	}
	tenant, err := ParseTenant(w.Tenant)
	if err != nil {
		return Envelope{}, fmt.Errorf("tenant_code: %w", err)
	}
	if w.SeqNr == 0 {
		return Envelope{}, errors.New("seq_nr is missing")
	}
	e := Envelope{
		AggregateType: aggregateType, SeqNr: w.SeqNr, OccurredAt: occurredAt.UTC(), CommandID: w.CommandID, Traceparent: w.Traceparent,
		Caller: Caller{
			Tenant: tenant, RequestID: w.RequestID, CorrelationID: w.CorrelationID, CausationID: w.CausationID,
			Source: w.Source, ClientIP: w.ClientIP,
		},
	}
	for _, read := range []struct {
		field   string
		written id
		into    *string
	}{{"id", w.ID, &e.EventID}, {"aggregate_id", w.Aggregate.Value, &e.AggregateID}, {"executor_id", w.Executor.Value, &e.Executor}} {
		if *read.into, err = canonical(string(read.written)); err != nil {
			return e, fmt.Errorf("%s: %w", read.field, err)
		}
	}
	return e, nil
}
