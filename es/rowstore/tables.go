package rowstore

import (
	"strings"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore/table"
)

// owner is the key of a row: the projection and the aggregate.
type owner struct {
	projection string
	tenant     es.Tenant
	kind, id   string
}

func (o owner) key() es.AggregateID { return es.AggregateID{Tenant: o.tenant, Type: o.kind, ID: o.id} }

func (o owner) primary() []string { return []string{o.projection, o.tenant.String(), o.kind, o.id} }

func (o *owner) fields() []any { return []any{&o.projection, table.Tenant(&o.tenant), &o.kind, &o.id} }

func ownerOf(set string, key es.AggregateID) owner { return owner{set, key.Tenant, key.Type, key.ID} }

func primariesOf(set string, keys []es.AggregateID) [][]string {
	primaries := make([][]string, len(keys))
	for i, key := range keys {
		primaries[i] = ownerOf(set, key).primary()
	}
	return primaries
}

func columnsOfOwner(more ...string) []string {
	return append([]string{"projection", "tenant_code", "aggregate_type", "aggregate_id"}, more...)
}

type positionRow struct {
	owner
	version uint64
	parked  bool // there is a dead letter
}

var positions = table.Table[positionRow]{
	Name: "projection_positions", Key: 4, Columns: columnsOfOwner("version", "parked"),
	ID:     func(r *positionRow) []string { return r.primary() },
	Fields: func(r *positionRow) []any { return append(r.fields(), &r.version, &r.parked) },
}

type letterRow struct {
	owner
	letter projection.DeadLetter
}

var deadLetters = table.Table[letterRow]{
	Name: "dead_letters", Key: 4, Columns: columnsOfOwner("seq_nr", "event_id", "payload", "reason", "attempts", "parked_at", "retry_at"),
	ID: func(r *letterRow) []string { return r.primary() },
	Fields: func(r *letterRow) []any {
		l := &r.letter
		return append(r.fields(), &l.SeqNr, &l.EventID, &l.Payload, &l.Reason, &l.Attempts, table.Time(&l.ParkedAt), table.Time(&l.RetryAt))
	},
}

// Limits for unreadable values in dead letters: longer ones are cut to fit the columns.
const (
	eventIDKept = 64   // code points
	reasonKept  = 2000 // code points
	payloadKept = 1 << 20
)

func letterRowOf(set string, letter projection.DeadLetter) letterRow {
	letter.EventID, letter.Reason = Cut(letter.EventID, eventIDKept), Cut(letter.Reason, reasonKept)
	letter.Payload = append([]byte{}, letter.Payload[:min(len(letter.Payload), payloadKept)]...)
	return letterRow{ownerOf(set, letter.Key), letter}
}

func (r letterRow) read() projection.DeadLetter {
	r.letter.Key = r.key()
	return r.letter
}

// Cut returns the first code points of a text, of which any may come.
func Cut(text string, kept int) string {
	points := []rune(strings.ToValidUTF8(text, "\uFFFD"))
	return string(points[:min(len(points), kept)])
}

type typeRow struct {
	projection string
	projection.Type
	updatedAt time.Time
}

var aggregateTypes = table.Table[typeRow]{
	Name: "projection_types", Key: 2, Columns: []string{"projection", "aggregate_type", "complete", "first_tenant_code", "first_id", "updated_at"},
	ID: func(r *typeRow) []string { return []string{r.projection, r.Name} },
	Fields: func(r *typeRow) []any {
		return []any{&r.projection, &r.Name, &r.Complete, table.Tenant(&r.First.Tenant), &r.First.ID, table.Time(&r.updatedAt)}
	},
}

type checkpointRow struct {
	projection string
	projection.Checkpoint
	updatedAt time.Time
}

var checkpoints = table.Table[checkpointRow]{
	Name: "checkpoints", Key: 3, Columns: []string{"projection", "source", "shard", "position", "updated_at"},
	ID: func(r *checkpointRow) []string { return []string{r.projection, r.Source, r.Shard} },
	Fields: func(r *checkpointRow) []any {
		return []any{&r.projection, &r.Source, &r.Shard, &r.Position, table.Time(&r.updatedAt)}
	},
}
