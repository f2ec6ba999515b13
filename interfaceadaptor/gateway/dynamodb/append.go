package dynamodb

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/interfaceadaptor/eventstore"
)

// Append writes head, entries and receipts in one transaction.
//
// An answer can be lost although the transaction was done. The token makes a repeat harmless, for ten minutes and
// where it is the same call; beyond that, the event id in the journal tells that the write that is in the way is this
// very one.
func (g *Gateway) Append(ctx context.Context, write eventstore.Append) error {
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
		var handled *eventstore.HandledError
		if errors.Is(err, eventstore.ErrConflict) || errors.Is(err, eventstore.ErrInconsistent) || errors.As(err, &handled) {
			return err
		}
	}
	return explain(ctx, err, "append to", write.ID)
}

// whyRefused finds the answer in the reasons, which are in the order of the transaction's items: nil when the write is
// there already, *HandledError when a command is, *InconsistentError when events are in the way and the head is not, and
// ErrConflict otherwise.
func (g *Gateway) whyRefused(ctx context.Context, write eventstore.Append, reasons []types.CancellationReason) error {
	if len(reasons) != 1+len(write.Entries)+len(write.Receipts) {
		return fmt.Errorf("the transaction was cancelled for %d reasons, not one for each of its items", len(reasons))
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
			return &eventstore.HandledError{Receipt: receipt}
		}
	}
	for i, reason := range reasons[1 : 1+len(write.Entries)] {
		if conditionFailed(reason) && !conditionFailed(reasons[0]) {
			if err := g.contradicts(ctx, write.ID, write.ExpectedVersion, write.Entries[i].SeqNr); err != nil {
				return err
			}
		}
	}
	version, err := item(reasons[0].Item).number("version")
	if err != nil {
		return err
	}
	if version == write.ExpectedVersion {
		return fmt.Errorf("append to %s: %w: another writer has asked for a turn", write.ID, eventstore.ErrConflict)
	}
	return fmt.Errorf("append to %s: %w: expected %d, found %d", write.ID, eventstore.ErrConflict, write.ExpectedVersion, version)
}

// isOwn tells whether the first event is in the journal. DynamoDB shows what is in the way of it; where it names another
// item as the reason, the journal is asked.
func (g *Gateway) isOwn(ctx context.Context, write eventstore.Append, reason types.CancellationReason) (bool, error) {
	first := write.Entries[0]
	found := item(reason.Item)
	if len(found) == 0 {
		output, err := g.client.GetItem(ctx, &dynamodb.GetItemInput{
			TableName:            aws.String(g.settings.JournalTable),
			Key:                  g.key(write.ID, first.SeqNr),
			ProjectionExpression: aws.String("event_id"),
			ConsistentRead:       aws.Bool(true),
		})
		if err != nil {
			return false, err
		}
		found = output.Item
	}
	return found.text("event_id") == first.EventID, nil
}
