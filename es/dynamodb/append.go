package dynamodb

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es"
)

const (
	maxTransaction = 4_000_000 // bytes of a transaction: DynamoDB's 4 MB, less the error of the estimate
	maxChanges     = 100       // its items
)

// Append writes head, entries and receipts in one transaction. If the answer to a committed one was lost, the token, or
// after ten minutes the event id in the journal, shows that the write is this one.
func (g *Gateway) Append(ctx context.Context, write es.Append) error {
	if write.ExpectedVersion > 0 {
		var err error
		if g, err = g.at(ctx, write.ID); err != nil {
			return err
		}
	}
	changes, err := g.transaction(write)
	if err != nil {
		return fmt.Errorf("append to %s: %w", write.ID, err)
	}
	err = g.transact(ctx, changes...)
	if reasons, is := refused(err); is {
		return g.whyRefused(ctx, write, changes, reasons)
	}
	return Explain(ctx, err, "append to %s", write.ID)
}

// transaction returns the changes of a write: the head, then the entries, then the receipts. The aggregate may exist
// under a former or later number of shards: a write that creates it ends with one condition for each of those, that its
// first event is not there.
func (g *Gateway) transaction(write es.Append) ([]types.TransactWriteItem, error) {
	if err := write.Check(); err != nil {
		return nil, err
	}
	changes, size := []types.TransactWriteItem{g.lock(write)}, len(write.FirstSnapshot)
	for _, entry := range write.Entries {
		event := g.eventItem(write.ID, entry)
		size += event.size()
		changes = append(changes, put(g.settings.JournalTable, event, absent, nil))
	}
	for _, receipt := range write.Receipts {
		stored := g.receiptItem(write.ID.Tenant, receipt)
		size += stored.size()
		changes = append(changes, put(g.settings.SnapshotTable, stored, absent+" OR #ttl <= :now",
			item{":now": number(g.settings.Clock().Unix())}))
	}
	for _, other := range g.all[1:] {
		if write.ExpectedVersion == 0 && g.under(other.partition(write.ID), write.ID) == other { // no key twice
			changes = append(changes, types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
				TableName: aws.String(g.settings.JournalTable), Key: other.key(write.ID, 1), ConditionExpression: aws.String(absent),
			}})
		}
	}
	if size > maxTransaction || len(changes) > maxChanges {
		return nil, fmt.Errorf("%d bytes and %d items do not fit in one transaction of %d and %d; append fewer entries at once",
			size, len(changes), maxTransaction, maxChanges)
	}
	return changes, nil
}

// lock updates the head from the expected version, or creates it.
func (g *Gateway) lock(write es.Append) types.TransactWriteItem {
	head, next := g.key(write.ID, headSeqNr), number(write.NextVersion())
	if write.ExpectedVersion > 0 {
		condition := "version = :expected"
		if write.Heed {
			condition += " AND attribute_not_exists(asked)"
		}
		return g.update(head, "SET version = :next REMOVE asked", condition, item{":next": next, ":expected": number(write.ExpectedVersion)})
	}
	head["aid"], head["seq_nr"], head["version"] = text(write.ID.String()), number(headSeqNr), next
	if write.FirstSnapshot != nil {
		head["payload"] = text(string(write.FirstSnapshot))
	}
	return put(g.settings.SnapshotTable, head, absent, nil)
}

// whyRefused translates the cancellation reasons, which are in the order of the transaction's items, into the errors of
// [es.EventPersistenceGateway]; nil when this write was already committed.
func (g *Gateway) whyRefused(ctx context.Context, write es.Append, changes []types.TransactWriteItem, reasons []types.CancellationReason) error {
	if len(reasons) != len(changes) {
		return fmt.Errorf("the cancelled transaction has %d reasons, which is not one for each of its items", len(reasons))
	}
	ends := 1 + len(write.Entries) + len(write.Receipts)
	if i := slices.IndexFunc(reasons[ends:], conditionFailed); i >= 0 { // the aggregate exists there
		return g.under(item(changes[ends+i].ConditionCheck.Key).text("pkey"), write.ID).Append(ctx, write)
	}
	head, events, receipts := reasons[0], reasons[1:1+len(write.Entries)], reasons[1+len(write.Entries):ends]
	own, err := g.isOwn(ctx, write, events[0])
	if own || err != nil {
		return err
	}
	if i := slices.IndexFunc(receipts, conditionFailed); i >= 0 {
		return &es.HandledError{Receipt: receiptOf(write.Receipts[i].CommandID, receipts[i].Item)}
	}
	if slices.Contains(passing, aws.ToString(head.Code)) {
		return fmt.Errorf("append to %s: %w: another writer is adding to it", write.ID, es.ErrConflict)
	}
	if i := slices.IndexFunc(events, conditionFailed); i >= 0 && !conditionFailed(head) {
		now, err := g.Head(ctx, write.ID) // read after the event
		if err == nil && now.Version == write.ExpectedVersion {
			err = &es.InconsistentError{ID: write.ID, Head: now.Version, Event: write.Entries[i].SeqNr}
		}
		if err != nil {
			return err
		}
	}
	if isFormer(head.Item) {
		if err := g.adopt(ctx, write.ID, head.Item); err != nil {
			return err
		}
		return g.Append(ctx, write)
	}
	version, err := item(head.Item).number("version")
	if err != nil {
		return err
	}
	if version == write.ExpectedVersion {
		return fmt.Errorf("append to %s: %w: another writer has asked this one to yield", write.ID, es.ErrConflict)
	}
	return fmt.Errorf("append to %s: %w: expected %d, found %d", write.ID, es.ErrConflict, write.ExpectedVersion, version)
}

// isOwn reports whether the first event of the write is in the journal: as the reason, or else by reading it.
func (g *Gateway) isOwn(ctx context.Context, write es.Append, reason types.CancellationReason) (own bool, err error) {
	first, found := write.Entries[0], item(reason.Item)
	if len(found) == 0 {
		found, err = g.getItem(ctx, g.settings.JournalTable, g.key(write.ID, first.SeqNr), "event_id")
	}
	return found.text("event_id") == first.EventID, Explain(ctx, err, "read the journal of %s", write.ID)
}

// Receipt reads consistently. An expired receipt counts as missing, even if DynamoDB has not deleted it yet.
func (g *Gateway) Receipt(ctx context.Context, tenant es.Tenant, commandID string) (es.Receipt, bool, error) {
	found, err := g.getItem(ctx, g.settings.SnapshotTable, g.keyOf(tenant, "command", commandID), "")
	if err != nil || found == nil || g.expired(found) {
		return es.Receipt{}, false, Explain(ctx, err, "read the receipt of command %s", commandID)
	}
	return receiptOf(commandID, found), true, nil
}

func (g *Gateway) receiptItem(tenant es.Tenant, receipt es.Receipt) item {
	stored := g.keyOf(tenant, "command", receipt.CommandID)
	stored["fingerprint"], stored["answer"] = text(receipt.Fingerprint), binary(receipt.Answer)
	stored["ttl"] = number(ceilSeconds(receipt.ExpiresAt))
	return stored
}

func receiptOf(commandID string, found item) es.Receipt {
	ttl, _ := found.integer("ttl") // an invalid one never expires
	return es.Receipt{
		CommandID: commandID, Fingerprint: found.text("fingerprint"), Answer: found.bytes("answer"), ExpiresAt: time.Unix(ttl, 0).UTC(),
	}
}
