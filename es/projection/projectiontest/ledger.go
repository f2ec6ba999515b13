package projectiontest

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// A ledger is the aggregate that the suite projects: each of its events adds a line or rewrites one. The rows are the
// lines. So the rows show whether, when and how often each event was applied.

// Line is a row.
type Line struct {
	Text  string
	Edits int
}

// LineID names a line: the ledger, and the seq_nr of the event that wrote it.
type LineID struct {
	Ledger es.AggregateID
	SeqNr  uint64
}

// Lines are the rows that the database under test keeps, in transactions of its [projection.Store].
type Lines interface {
	// LoadLines reads the existing lines.
	LoadLines(ctx context.Context, tx projection.Tx, ids []LineID) (map[LineID]Line, error)
	// SaveLines inserts or updates lines.
	SaveLines(ctx context.Context, tx projection.Tx, lines map[LineID]Line) error
}

// entry is an event: a new line, or another text for the line that event Edits wrote.
type entry struct {
	Text  string
	Edits uint64
}

// Texts that a handler can't stand.
const (
	panicsInDecode = "a panic in Decode"
	panicsInApply  = "a panic in Apply"
)

// payload is an event as stored in the journal.
type payload struct {
	ID, Type, Ledger, Tenant string
	SeqNr                    uint64
	OccurredAt               time.Time
	Traceparent              string
	entry
}

func encode(event projection.Event) []byte {
	bytes, err := json.Marshal(payload{
		ID: event.EventID, Type: event.AggregateType, Ledger: event.AggregateID, Tenant: event.Tenant.String(), SeqNr: event.SeqNr,
		OccurredAt: event.OccurredAt, Traceparent: event.Traceparent,
		entry: event.Event.(entry),
	})
	if err != nil {
		panic(err) // texts and numbers always encode
	}
	return bytes
}

// ledgers is the handler of ledgers.
type ledgers struct {
	kind  string
	lines Lines
}

func (l ledgers) Type() string { return l.kind }

func (l ledgers) DecodeEvent(bytes []byte) (projection.Event, error) {
	var read payload
	if err := json.Unmarshal(bytes, &read); err != nil {
		id, _, _ := strings.Cut(strings.TrimPrefix(string(bytes), `{"ID":"`), `"`) // what can be read is told
		return projection.Event{Envelope: es.Envelope{EventID: id}}, err
	}
	if read.Text == panicsInDecode {
		panic(read.Text)
	}
	tenant, err := es.ParseTenant(read.Tenant)
	return projection.Event{
		Envelope: es.Envelope{
			EventID: read.ID, AggregateType: read.Type, AggregateID: read.Ledger, SeqNr: read.SeqNr, Caller: es.Caller{Tenant: tenant},
			OccurredAt: read.OccurredAt, Traceparent: read.Traceparent,
		},
		Event: read.entry,
	}, err
}

func (l ledgers) Load(ctx context.Context, tx projection.Tx, events []projection.Event) (projection.Fold, error) {
	var needed []LineID
	for _, event := range events {
		if edited := event.Event.(entry).Edits; edited > 0 {
			needed = append(needed, LineID{event.Aggregate(), edited})
		}
	}
	lines, err := l.lines.LoadLines(ctx, tx, needed)
	return &fold{lines: lines, in: l.lines}, err
}

// fold saves what it has loaded, too, whether an event has changed it or not.
type fold struct {
	lines map[LineID]Line
	in    Lines
}

func (f *fold) Apply(event projection.Event) error {
	said := event.Event.(entry)
	if said.Text == panicsInApply {
		f.lines[LineID{event.Aggregate(), event.SeqNr}] = Line{Text: "half an event"}
		panic(said.Text)
	}
	id, line := LineID{event.Aggregate(), event.SeqNr}, Line{Text: said.Text}
	if said.Edits > 0 {
		id.SeqNr = said.Edits
		written, there := f.lines[id]
		if !there {
			return fmt.Errorf("line %d is not in the ledger", said.Edits)
		}
		line.Edits = written.Edits + 1
	}
	f.lines[id] = line
	return nil
}

func (f *fold) Save(ctx context.Context, tx projection.Tx) error {
	return f.in.SaveLines(ctx, tx, f.lines)
}

// expected computes the lines from the journal's events without the projection's own code.
func expected(journal *Journal) map[LineID]Line {
	lines := make(map[LineID]Line)
	for _, key := range journal.Keys() {
		for _, event := range journal.Of(key) {
			said := event.Event.(entry)
			if said.Edits == 0 {
				lines[LineID{key, event.SeqNr}] = Line{Text: said.Text}
			} else {
				id := LineID{key, said.Edits}
				lines[id] = Line{Text: said.Text, Edits: lines[id].Edits + 1}
			}
		}
	}
	return lines
}

// difference returns how the rows differ from the journal; nil: they do not.
func difference(ctx context.Context, db Database, journal *Journal) error {
	want := expected(journal)
	keys := journal.Keys()
	var ids []LineID
	for _, key := range keys {
		for seqNr := range journal.Of(key) {
			ids = append(ids, LineID{key, uint64(seqNr) + 1})
		}
	}
	var got map[LineID]Line
	err := db.Change(ctx, func(ctx context.Context, tx projection.Tx) (err error) {
		positions, err := tx.Load(ctx, keys)
		if err != nil {
			return err
		}
		for _, key := range keys {
			if at := positions[key]; at.Version != uint64(len(journal.Of(key))) || at.Parked != nil {
				return fmt.Errorf("%s is at version %d of %d, parked: %+v", key, at.Version, len(journal.Of(key)), at.Parked)
			}
		}
		got, err = db.LoadLines(ctx, tx, ids)
		return err
	})
	if err != nil {
		return err
	}
	for id, line := range want {
		if got[id] != line {
			return fmt.Errorf("line %d of %s is\n%+v and should be\n%+v", id.SeqNr, id.Ledger, got[id], line)
		}
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("%d lines are there and should be %d", len(got), len(want))
	}
	return nil
}
