package stream

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/repository"
	"example.com/threads/usecase"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/projection"
)

// Entry is a journal item's new image as a change source carries it, with nothing of it believed yet. A source fills
// in what it finds and leaves the rest empty; [Entry.Record] judges it. It is independent of any client library: a Lambda
// handler fills it from its own event type.
type Entry struct {
	PKey    string // [<tenant>#]thread-<shard>
	AID     string // thread-<ulid>
	SeqNr   string // decimal
	Payload []byte // the event's JSON
}

// ErrNotAnEntry says that an item is not a journal entry of a thread: it has no place in the read model and can be skipped.
var ErrNotAnEntry = errors.New("not a journal entry of a thread")

const aggregate = repository.AggregateType + "-"

var partition = regexp.MustCompile(`^(?:([^#]+)#)?` + aggregate + `[0-9]+$`)

// Record is the entry as the projection takes it. An entry that names its thread and number but can't be read as an
// event becomes a record with Err: it is never dropped. Anything else is an error that wraps [ErrNotAnEntry].
func (e Entry) Record() (projection.Record, error) {
	key, err := e.key()
	if err != nil {
		return projection.Record{}, err
	}
	seqNr, err := strconv.ParseUint(e.SeqNr, 10, 63)
	if err != nil || seqNr == 0 {
		return projection.Record{}, fmt.Errorf("%w: seq_nr is %q", ErrNotAnEntry, e.SeqNr)
	}
	return repository.RecordOf(key, seqNr, e.Payload), nil
}

func (e Entry) key() (usecase.Key, error) {
	parts := partition.FindStringSubmatch(e.PKey)
	if parts == nil {
		return usecase.Key{}, fmt.Errorf("%w: pkey is %q", ErrNotAnEntry, e.PKey)
	}
	tenant, err := usecase.ParseTenant(parts[1])
	if err != nil {
		return usecase.Key{}, fmt.Errorf("%w: pkey is %q: %w", ErrNotAnEntry, e.PKey, err)
	}
	ulid, found := strings.CutPrefix(e.AID, aggregate)
	id, err := ident.Parse[thread.Thread](ulid)
	if !found || err != nil {
		return usecase.Key{}, fmt.Errorf("%w: aid is %q", ErrNotAnEntry, e.AID)
	}
	return chat.ThreadKey(tenant, id), nil
}
