package stream

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/oklog/ulid/v2"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// Entry is a journal item's new image as a source received it, not yet checked. A source fills in what it finds and
// leaves the rest empty; [Entry.Record] checks it. It depends on no client library: a Lambda handler can fill it from
// its own event type.
type Entry struct {
	PKey    string // [<tenant>#]<type>-<shard>
	AID     string // <type>-<ulid>
	SeqNr   string // decimal
	Payload []byte // the event's JSON
}

// ErrNotAnEntry: an item is not a journal entry of any aggregate. Skipping it loses no event.
var ErrNotAnEntry = errors.New("not a journal entry")

var (
	partition = regexp.MustCompile(`^(?:([^#]+)#)?([^#]+)-[0-9]+$`)
	typeName  = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)
)

// Record converts the entry for a projection. Without a valid aggregate and number the error wraps [ErrNotAnEntry].
func (e Entry) Record() (projection.Record, error) {
	parts := partition.FindStringSubmatch(e.PKey)
	if parts == nil {
		return projection.Record{}, fmt.Errorf("%w: pkey is %q", ErrNotAnEntry, e.PKey)
	}
	id, found := strings.CutPrefix(e.AID, parts[2]+"-")
	if !found {
		return projection.Record{}, fmt.Errorf("%w: pkey is %q and aid is %q", ErrNotAnEntry, e.PKey, e.AID)
	}
	key, err := KeyOf(parts[1], parts[2], id)
	if err != nil {
		return projection.Record{}, err
	}
	seqNr, err := strconv.ParseUint(e.SeqNr, 10, 63)
	if err != nil || seqNr == 0 {
		return projection.Record{}, fmt.Errorf("%w: seq_nr is %q", ErrNotAnEntry, e.SeqNr)
	}
	return projection.Record{Key: key, SeqNr: seqNr, Payload: e.Payload}, nil
}

// KeyOf returns the key of an aggregate. id is a ULID as programs write it, because they would not find another form.
// Errors wrap [ErrNotAnEntry].
func KeyOf(tenant, aggregateType, id string) (es.AggregateID, error) {
	code, err := es.ParseTenant(tenant)
	if err != nil {
		return es.AggregateID{}, fmt.Errorf("%w: the tenant is %q", ErrNotAnEntry, tenant)
	}
	value, err := ulid.ParseStrict(id)
	if err != nil || value.IsZero() || value.String() != id || !typeName.MatchString(aggregateType) {
		return es.AggregateID{}, fmt.Errorf("%w: the aggregate is %q of type %q", ErrNotAnEntry, id, aggregateType)
	}
	return es.AggregateID{Tenant: code, Type: aggregateType, ID: id}, nil
}
