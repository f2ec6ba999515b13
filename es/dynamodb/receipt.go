package dynamodb

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es"
)

// Receipt reads consistently. An expired receipt counts as missing, even if DynamoDB has not deleted it yet.
func (g *Gateway) Receipt(ctx context.Context, tenant es.Tenant, commandID string) (es.Receipt, bool, error) {
	_, receipt, err := g.readReceipt(ctx, tenant, commandID)
	return receipt, receipt.CommandID != "", err
}

// readReceipt returns the item of a valid receipt, too; both are zero if there is none.
func (g *Gateway) readReceipt(ctx context.Context, tenant es.Tenant, commandID string) (item, es.Receipt, error) {
	found, err := g.getItem(ctx, g.settings.SnapshotTable, g.receiptKey(tenant, commandID))
	if err != nil || found == nil {
		return nil, es.Receipt{}, explain(ctx, err, "read the receipt of command %s", commandID)
	}
	receipt, err := receiptOf(commandID, found)
	if err != nil || !receipt.ExpiresAt.After(g.settings.Clock()) {
		return nil, es.Receipt{}, err
	}
	return found, receipt, nil
}

// EntryByCommand finds the entry through the command's receipt. The journal has no index on command ids: it would cost
// a write for every event.
func (g *Gateway) EntryByCommand(ctx context.Context, id es.AggregateID, commandID string) (es.Entry, bool, error) {
	kept, _, err := g.readReceipt(ctx, id.Tenant, commandID)
	if err != nil || kept.text(ledToAggregate) != id.String() {
		return es.Entry{}, false, err
	}
	seqNr, err := kept.number(ledToEvent)
	if err != nil {
		return es.Entry{}, false, err
	}
	event, err := g.getItem(ctx, g.settings.JournalTable, g.key(id, seqNr))
	switch {
	case err != nil:
		return es.Entry{}, false, explain(ctx, err, "read the event of command %s", commandID)
	case event == nil:
		return es.Entry{}, false, &es.InconsistentError{ID: id, Head: seqNr, Event: seqNr}
	}
	entry, err := entryOf(event)
	entry.CommandID = commandID
	return entry, err == nil, err
}

// Attributes of a receipt that name the entry that the command led to.
const (
	ledToAggregate = "event_aid"
	ledToEvent     = "event_seq_nr"
)

// receiptPut writes a receipt, on the condition that there is none or that it has expired.
func (g *Gateway) receiptPut(write es.Append, receipt es.Receipt) *types.Put {
	put := g.receiptKey(write.ID.Tenant, receipt.CommandID)
	for _, entry := range write.Entries {
		if entry.CommandID == receipt.CommandID {
			put[ledToAggregate], put[ledToEvent] = text(write.ID.String()), number(entry.SeqNr)
		}
	}
	put["fingerprint"] = text(receipt.Fingerprint)
	put["answer"] = binary(receipt.Answer)
	put["ttl"] = number(ceilSeconds(receipt.ExpiresAt))
	return &types.Put{
		TableName:                           aws.String(g.settings.SnapshotTable),
		Item:                                put,
		ConditionExpression:                 aws.String("attribute_not_exists(pkey) OR #ttl <= :now"),
		ExpressionAttributeNames:            map[string]string{"#ttl": "ttl"},
		ExpressionAttributeValues:           item{":now": number(g.settings.Clock().Unix())},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}

func receiptOf(commandID string, found item) (es.Receipt, error) {
	ttl, err := found.number("ttl")
	if err != nil {
		return es.Receipt{}, err
	}
	return es.Receipt{
		CommandID:   commandID,
		Fingerprint: found.text("fingerprint"),
		Answer:      found.bytes("answer"),
		ExpiresAt:   time.Unix(int64(ttl), 0).UTC(),
	}, nil
}

// ceilSeconds returns the time in seconds since 1970, rounded up, so that a ttl is never early.
func ceilSeconds(t time.Time) int64 {
	return t.Add(time.Second - time.Nanosecond).Unix()
}
