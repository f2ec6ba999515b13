package dynamodb

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es"
)

// Append writes head, entries and receipts in one transaction.
//
// The answer to a committed transaction can be lost. A retry with the same token is harmless, but only for the same
// call and for ten minutes. After that, the event id in the journal shows whether the existing write is this one.
func (g *Gateway) Append(ctx context.Context, write es.Append) error {
	input, err := g.transaction(write)
	if err != nil {
		return fmt.Errorf("append to %s: %w", write.ID, err)
	}
	err = retryContended(ctx, func() error {
		_, err := g.client.TransactWriteItems(ctx, input)
		return err
	})
	var canceled *types.TransactionCanceledException
	if errors.As(err, &canceled) && refused(canceled) {
		err = g.whyRefused(ctx, write, canceled.CancellationReasons)
		var handled *es.HandledError
		if errors.Is(err, es.ErrConflict) || errors.Is(err, es.ErrInconsistent) || errors.As(err, &handled) {
			return err
		}
	}
	return explain(ctx, err, "append to %s", write.ID)
}

// whyRefused translates the cancellation reasons, which are in the order of the transaction's items: nil when this
// write was already committed, *HandledError when a command was, *InconsistentError when an event exists although the
// head is at the expected version, and ErrConflict otherwise.
func (g *Gateway) whyRefused(ctx context.Context, write es.Append, reasons []types.CancellationReason) error {
	if len(reasons) != 1+len(write.Entries)+len(write.Receipts) {
		return fmt.Errorf("the cancelled transaction has %d reasons, which is not one for each of its items", len(reasons))
	}
	own, err := g.isOwn(ctx, write, reasons[1])
	if own || err != nil {
		return err
	}
	for i, reason := range reasons[1+len(write.Entries):] {
		if conditionFailed(reason) {
			receipt, err := receiptOf(write.Receipts[i].CommandID, reason.Item)
			if err != nil {
				return err
			}
			return &es.HandledError{Receipt: receipt}
		}
	}
	for i, reason := range reasons[1 : 1+len(write.Entries)] {
		if conditionFailed(reason) && !conditionFailed(reasons[0]) {
			if err := g.contradicts(ctx, write.ID, write.ExpectedVersion, write.Entries[i].SeqNr); err != nil {
				return err
			}
		}
	}
	if isFormer(reasons[0].Item) {
		if err := g.adopt(ctx, write.ID, reasons[0].Item); err != nil {
			return err
		}
		return g.Append(ctx, write)
	}
	version, err := item(reasons[0].Item).number("version")
	if err != nil {
		return err
	}
	if version == write.ExpectedVersion {
		return fmt.Errorf("append to %s: %w: another writer has asked for a turn", write.ID, es.ErrConflict)
	}
	return fmt.Errorf("append to %s: %w: expected %d, found %d", write.ID, es.ErrConflict, write.ExpectedVersion, version)
}

// isOwn reports whether the first event of the write is in the journal. DynamoDB returns the existing item with the
// reason; if it names another item as the reason, the journal is read.
func (g *Gateway) isOwn(ctx context.Context, write es.Append, reason types.CancellationReason) (bool, error) {
	first := write.Entries[0]
	found := item(reason.Item)
	if len(found) == 0 {
		var err error
		if found, err = g.getItem(ctx, g.settings.JournalTable, g.key(write.ID, first.SeqNr), "event_id"); err != nil {
			return false, err
		}
	}
	return found.text("event_id") == first.EventID, nil
}
