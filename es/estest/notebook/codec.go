package notebook

import (
	"context"
	"fmt"

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
	return es.NewCodec(Type, nil,
		es.Plain[Event, Opened]("NotebookOpened"), es.Plain[Event, Renamed]("NotebookRenamed"), es.Plain[Event, Shared]("NotebookShared"),
		es.Plain[Event, Unshared]("NotebookUnshared"), es.Plain[Event, Written]("NoteWritten"), es.Plain[Event, Closed]("NotebookClosed"))
}

// snapshots encodes states as their own JSON, and pretends that every note takes memory.
func snapshots() es.SnapshotCodec[Notebook] {
	codec := es.Aggregate[Notebook, Command, Event]{}.StateCodec()
	codec.Size = func(n Notebook) int { return 60 * n.Notes }
	return codec
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
func NewID() string { return ulid.Make().String() }

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
