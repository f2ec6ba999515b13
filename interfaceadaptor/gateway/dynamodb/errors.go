package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"example.com/threads/interfaceadaptor/eventstore"
)

// explain says what failed and sorts it: the caller has gone (context.Canceled), the store did not answer
// (eventstore.ErrUnavailable), or a fault.
func explain(ctx context.Context, err error, doing string, id eventstore.AggregateID) error {
	return explainf(ctx, err, "%s %s", doing, id)
}

func explainf(ctx context.Context, err error, format string, args ...any) error {
	doing := fmt.Sprintf(format, args...)
	switch ended := ctx.Err(); {
	case err == nil:
		return nil
	case errors.Is(ended, context.Canceled):
		return fmt.Errorf("%s: %w", doing, ended)
	case ended != nil || passing(err):
		return fmt.Errorf("%s: %w: %w", doing, eventstore.ErrUnavailable, err)
	default:
		return fmt.Errorf("%s: %w", doing, err)
	}
}

// passing tells what may be gone the next time: what the SDK retries and has by now given up on, and what it does not
// know - an answer that broke off, a name that does not resolve.
func passing(err error) bool {
	var unsent *smithyhttp.RequestSendError
	var quota ratelimit.QuotaExceededError
	return contended(err) ||
		retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err) == aws.TrueTernary ||
		errors.As(err, &unsent) || errors.As(err, &quota) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errLeftOver)
}

// contended tells that a transaction, or a write beside one, met another one or too little capacity: nothing was
// written, and some milliseconds later it may well be. The SDK does not retry these.
func contended(err error) bool {
	var conflict *types.TransactionConflictException
	var inProgress *types.TransactionInProgressException
	var canceled *types.TransactionCanceledException
	switch {
	case errors.As(err, &conflict), errors.As(err, &inProgress):
		return true
	case !errors.As(err, &canceled) || refused(canceled):
		return false
	}
	for _, reason := range canceled.CancellationReasons {
		switch aws.ToString(reason.Code) {
		case "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded", "RequestLimitExceeded":
			return true
		}
	}
	return false
}

// refused tells that a condition failed: trying again can't help.
func refused(canceled *types.TransactionCanceledException) bool {
	for _, reason := range canceled.CancellationReasons {
		if conditionFailed(reason) {
			return true
		}
	}
	return false
}

func conditionFailed(reason types.CancellationReason) bool {
	return aws.ToString(reason.Code) == "ConditionalCheckFailed"
}
