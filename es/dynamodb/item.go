package dynamodb

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es"
)

// item is an item, or part of one: values by attribute name.
type item map[string]types.AttributeValue

func text(value string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: value} }
func binary(value []byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: value} }

func number[N uint64 | int64 | int](value N) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: fmt.Sprint(value)}
}

// plain returns a text, a number's digits or bytes as text; empty if value is missing.
func plain(value types.AttributeValue) string {
	switch value := value.(type) {
	case *types.AttributeValueMemberS:
		return value.Value
	case *types.AttributeValueMemberN:
		return value.Value
	case *types.AttributeValueMemberB:
		return string(value.Value)
	}
	return ""
}

// text returns the attribute's text; empty if it is missing.
func (i item) text(attribute string) string { return plain(i[attribute]) }

// bytes returns the attribute's text or bytes; nil if it is missing.
func (i item) bytes(attribute string) []byte {
	switch value := i[attribute].(type) {
	case nil:
		return nil
	case *types.AttributeValueMemberB:
		return value.Value
	default:
		return []byte(plain(value))
	}
}

// number returns the attribute's number; 0 if it is missing. If it is not a whole number, the error names the item.
func (i item) number(attribute string) (uint64, error) {
	value, err := i.integer(attribute)
	if err == nil && value < 0 {
		err = fmt.Errorf("item %s: %s is negative", i.text("skey"), attribute)
	}
	return uint64(max(value, 0)), err
}

// integer is number for times, which may be negative, because writers with wrong clocks have written such times.
func (i item) integer(attribute string) (int64, error) {
	if i[attribute] == nil {
		return 0, nil
	}
	stored, ok := i[attribute].(*types.AttributeValueMemberN)
	if !ok {
		return 0, fmt.Errorf("item %s: %s is not a whole number", i.text("skey"), attribute)
	}
	value, err := strconv.ParseInt(stored.Value, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("item %s: %s: %w", i.text("skey"), attribute, err)
	}
	return value, nil
}

// size estimates the bytes that DynamoDB counts: names and values.
func (i item) size() (size int) {
	for name, value := range i {
		size += len(name) + len(plain(value))
	}
	return size
}

// key returns the item's primary key.
func (i item) key() item { return item{"pkey": i["pkey"], "skey": i["skey"]} }

const (
	headSeqNr       = 0    // of the head item in the snapshot table
	headSuffix      = "-0" // of its skey
	tenantSeparator = "#"
)

// partition returns the pkey of an aggregate's items.
func (g *Gateway) partition(id es.AggregateID) string {
	return partitionOf(id.Tenant, id.Type, id.ID, g.shards)
}

// partitionOf returns the pkey of all items of name, which is hashed.
func partitionOf(tenant es.Tenant, kind, name string, shards int) string {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(name)) // a hash's Write never fails
	shard := fmt.Sprintf("%s-%d", kind, hash.Sum64()%uint64(shards))
	if tenant == "" {
		return shard
	}
	return tenant.String() + tenantSeparator + shard
}

func sortKey(id es.AggregateID, seqNr uint64) string {
	return id.String() + "-" + strconv.FormatUint(seqNr, 10)
}

// key returns the primary key of an aggregate's item: an event, the head (0), or a snapshot.
func (g *Gateway) key(id es.AggregateID, seqNr uint64) item {
	return item{"pkey": text(g.partition(id)), "skey": text(sortKey(id, seqNr))}
}

// keyOf returns the primary key of an item that is not an aggregate's.
func (g *Gateway) keyOf(tenant es.Tenant, kind, name string) item {
	return item{"pkey": text(partitionOf(tenant, kind, name, g.lowest)), "skey": text(kind + "-" + name)}
}

// partKey returns the key of a further part of a snapshot. With the checksum in it, two processes that store the same
// version in different bytes do not mix their parts.
func partKey(main item, number int) item {
	return item{"pkey": main["pkey"], "skey": text(fmt.Sprintf("%s-%.16s-%d", main.text("skey"), main.text("checksum"), number))}
}

// place returns the aggregate and the number of the item under a key: of an event, a head, or the main item of a
// snapshot. With a fault, programs do not look for the item there: it is as good as missing, everywhere.
func (g *Gateway) place(pkey, skey string) (id es.AggregateID, seqNr uint64, faults []es.Fault) {
	tenant, _, separated := strings.Cut(pkey, tenantSeparator)
	if !separated {
		tenant = ""
	}
	dash := max(strings.LastIndexByte(skey, '-'), 0)
	id, err := es.ParseAggregateID(es.Tenant(tenant), skey[:dash])
	if err == nil {
		seqNr, err = strconv.ParseUint(skey[dash+1:], 10, 63) // as SQL can store it
	}
	if err != nil || sortKey(id, seqNr) != skey {
		return es.AggregateID{Tenant: es.Tenant(tenant), ID: skey}, 0, []es.Fault{{Field: "skey", Expected: "<type>-<ulid>-<number>", Found: skey}}
	}
	if g.under(pkey, id) == nil {
		faults = []es.Fault{{Field: "pkey", Expected: g.partition(id), Found: pkey}}
	}
	return id, seqNr, faults
}

// Place returns the aggregate and the number of the item under a key. It fails if programs do not look for it there.
func (g *Gateway) Place(pkey, skey string) (id es.AggregateID, seqNr uint64, err error) {
	id, seqNr, faults := g.place(pkey, skey)
	if len(faults) > 0 {
		err = fmt.Errorf("the item at pkey %q and skey %q is misplaced: its %s should be %s; a journal check lists such items; "+
			"is the number of shards that of the program that wrote it?", pkey, skey, faults[0].Field, faults[0].Expected)
	}
	return id, seqNr, err
}

// expired reports whether the item's time to live is over. An invalid time never expires.
func (g *Gateway) expired(found item) bool {
	ttl, err := found.number("ttl")
	return err == nil && ttl > 0 && int64(ttl) <= g.settings.Clock().Unix()
}

// ceilSeconds returns the time in seconds since 1970, rounded up, so that a ttl is never early.
func ceilSeconds(t time.Time) int64 { return t.Add(time.Second - time.Nanosecond).Unix() }
