package notebook

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// Service handles commands on notebooks.
type Service = es.Service[Notebook, Command, Event]

// Repository loads and saves notebooks.
type Repository = es.Repository[Notebook, Event]

// Events returns the codec of the events.
func Events() *es.Codec[Event] {
	asIs := func(text string) (string, error) { return text, nil }
	return es.NewCodec(Type, asIs,
		row[Opened]("NotebookOpened"), row[Renamed]("NotebookRenamed"), row[Shared]("NotebookShared"),
		row[Unshared]("NotebookUnshared"), row[Written]("NoteWritten"), row[Closed]("NotebookClosed"))
}

func row[T any](name string) es.EventType[Event] {
	return es.Event[Event](name, func(e T) T { return e }, func(e T) (T, error) { return e, nil })
}

type snapshot struct {
	ID      string
	Version uint64
	State   Notebook
}

// snapshots encodes states as JSON, and pretends that every note takes memory.
func snapshots() es.SnapshotCodec[Notebook] {
	return es.SnapshotCodec[Notebook]{
		Encode: func(id string, version uint64, n Notebook) ([]byte, error) {
			return json.Marshal(snapshot{id, version, n})
		},
		Decode: func(payload []byte) (string, uint64, Notebook, error) {
			var s snapshot
			err := json.Unmarshal(payload, &s)
			return s.ID, s.Version, s.State, err
		},
		Size: func(n Notebook) int { return 60 * n.Notes },
	}
}

// Request returns a request for a command, as an adapter would make it. [Open] gets a new id.
func Request(caller es.Caller, id string, c Command) es.Request[Command] {
	r := es.Request[Command]{Caller: caller, ID: id, Command: c, Name: fmt.Sprintf("%T", c), Content: fmt.Sprintf("%+v", c)}
	if _, opens := c.(Open); opens {
		r.ID, r.Begins = NewID(), true
	}
	return r
}

// NewID returns a new ULID.
func NewID() string { return ulid.MustNew(ulid.Timestamp(time.Now()), ulid.DefaultEntropy()).String() }

// Positions projects notebooks without rows: only their positions are stored.
type Positions struct{}

// Type returns the aggregate type.
func (Positions) Type() string { return Type }

// DecodeEvent decodes a record of the journal.
func (Positions) DecodeEvent(payload []byte) (projection.Event, error) {
	return Events().DecodeEvent(payload)
}

// Load returns a fold without rows.
func (Positions) Load(context.Context, projection.Tx, []projection.Event) (projection.Fold, error) {
	return Positions{}, nil
}

// Apply accepts every event.
func (Positions) Apply(projection.Event) error { return nil }

// Save stores nothing.
func (Positions) Save(context.Context, projection.Tx) error { return nil }
