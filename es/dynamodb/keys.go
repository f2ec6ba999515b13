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

const (
	journalIndex  = "journal-aid-index"
	snapshotIndex = "snapshot-aid-index"

	tenantSeparator = "#"
	receiptType     = "command"
	sequenceType    = "sequence"
	fileType        = "file"
	filesType       = "files"
	heldType        = "held"
)

// partition returns the pkey of all items of name, which is an aggregate's ULID or a command's id.
func (g *Gateway) partition(tenant es.Tenant, kind, name string) string {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(name)) // a hash's Write never fails
	shard := fmt.Sprintf("%s-%d", kind, hash.Sum64()%g.shards)
	if tenant == "" {
		return shard
	}
	return tenant.String() + tenantSeparator + shard
}

// tenantOf returns the tenant in a pkey.
func tenantOf(partition string) es.Tenant {
	tenant, _, separated := strings.Cut(partition, tenantSeparator)
	if !separated {
		return ""
	}
	return es.Tenant(tenant)
}

func sortKey(id es.AggregateID, seqNr uint64) string {
	return id.String() + "-" + strconv.FormatUint(seqNr, 10)
}

// key returns the primary key of an aggregate's item: an event in the journal table; the head (0) or a snapshot in the
// snapshot table.
func (g *Gateway) key(id es.AggregateID, seqNr uint64) item {
	return item{"pkey": text(g.partition(id.Tenant, id.Type, id.ID)), "skey": text(sortKey(id, seqNr))}
}

func (g *Gateway) receiptKey(tenant es.Tenant, commandID string) item {
	return item{"pkey": text(g.partition(tenant, receiptType, commandID)), "skey": text(receiptType + "-" + commandID)}
}

func (g *Gateway) sequenceKey(tenant es.Tenant, name string) item {
	return item{"pkey": text(g.partition(tenant, sequenceType, name)), "skey": text(sequenceType + "-" + name)}
}

// filePartKey returns the key of a part of a file. The parts are spread over the shards, because they are written in
// quick succession.
func (g *Gateway) filePartKey(tenant es.Tenant, file string, number uint64) item {
	name := file + "-" + strconv.FormatUint(number, 10)
	return item{"pkey": text(g.partition(tenant, fileType, name)), "skey": text(fileType + "-" + name)}
}

// fileKey returns the key of a file's item. It is in a partition of all tenants, by expiry, so that expired files are
// found without a scan.
func (g *Gateway) fileKey(file es.File) item {
	name := file.Tenant.String() + tenantSeparator + file.Name
	return item{"pkey": text(g.partition("", filesType, name)), "skey": text(fileTime(file.Expires) + "-" + name)}
}

// fileTime is the begin of the keys of files that expire at a time.
func fileTime(at time.Time) string { return fmt.Sprintf("%s-%012d", filesType, ceilSeconds(at)) }

// heldKey returns the key of the item that counts the bytes in an owner's files.
func (g *Gateway) heldKey(tenant es.Tenant, owner string) item {
	return item{"pkey": text(g.partition(tenant, heldType, owner)), "skey": text(heldType + "-" + owner)}
}

// partKey returns the key of a further part of a snapshot. It contains the checksum, so that two processes that store
// the same version in different bytes do not mix their parts.
func partKey(main item, checksum string, number int) item {
	return item{"pkey": main["pkey"], "skey": text(fmt.Sprintf("%s-%.16s-%d", main.text("skey"), checksum, number))}
}

// indexKey is the condition for an aggregate's items within a range of seq_nr in an index. indexFilter excludes other
// tenants with the same ULID.
const (
	indexKey    = "#aid = :aid AND #seq_nr BETWEEN :from AND :to"
	indexFilter = "#pkey = :pkey"
)

func indexNames() map[string]string {
	return map[string]string{"#aid": "aid", "#seq_nr": "seq_nr", "#pkey": "pkey"}
}

func (g *Gateway) indexValues(id es.AggregateID, from, to uint64) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		":aid": text(id.String()), ":from": number(from), ":to": number(to),
		":pkey": text(g.partition(id.Tenant, id.Type, id.ID)),
	}
}
