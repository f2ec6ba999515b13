package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"example.com/threads/es"
)

// Explain adds what failed, and classifies the error: the caller has disconnected (context.Canceled), the store did not
// answer (es.ErrUnavailable), or a fault.
func Explain(ctx context.Context, err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	switch ended := ctx.Err(); {
	case errors.Is(ended, context.Canceled):
		err = ended
	case (ended != nil || transient(err)) && !errors.Is(err, es.ErrUnavailable):
		err = fmt.Errorf("%w: %w", es.ErrUnavailable, err)
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), err)
}

// transient reports whether a later attempt may succeed.
func transient(err error) bool {
	var unsent *smithyhttp.RequestSendError
	var quota ratelimit.QuotaExceededError
	return contended(err) ||
		retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err) == aws.TrueTernary ||
		errors.As(err, &unsent) || errors.As(err, &quota) ||
		errors.Is(err, io.ErrUnexpectedEOF)
}

// contended reports whether a write failed because of a concurrent transaction or too little capacity: nothing was
// written, or a part, and a retry some milliseconds later may succeed. Of these errors, the SDK retries only
// TransactionInProgressException.
func contended(err error) bool {
	canceled, is := errors.AsType[*types.TransactionCanceledException](err)
	if !is {
		_, conflict := errors.AsType[*types.TransactionConflictException](err)
		_, inProgress := errors.AsType[*types.TransactionInProgressException](err)
		return conflict || inProgress || errors.Is(err, errUnprocessed)
	}
	return !slices.ContainsFunc(canceled.CancellationReasons, conditionFailed) &&
		slices.ContainsFunc(canceled.CancellationReasons, func(reason types.CancellationReason) bool {
			return slices.Contains(passing, aws.ToString(reason.Code))
		})
}

// passing are the reasons of a cancelled transaction that a retry may not meet again.
var passing = []string{"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded", "RequestLimitExceeded"}

func conditionFailed(reason types.CancellationReason) bool {
	return aws.ToString(reason.Code) == "ConditionalCheckFailed"
}

// refused returns the reasons of a transaction, in the order of its items, if a condition failed.
func refused(err error) (reasons []types.CancellationReason, is bool) {
	canceled, is := errors.AsType[*types.TransactionCanceledException](err)
	if !is || !slices.ContainsFunc(canceled.CancellationReasons, conditionFailed) {
		return nil, false
	}
	return canceled.CancellationReasons, true
}

// unmet returns the item that does not meet the condition of a single write.
func unmet(err error) (found item, is bool) {
	if failed, unmet := errors.AsType[*types.ConditionalCheckFailedException](err); unmet {
		return failed.Item, true
	}
	return nil, false
}

// errUnprocessed: DynamoDB kept answering only part of a request because of low capacity.
var errUnprocessed = errors.New("DynamoDB left a part of the request unprocessed")

const (
	contentionAttempts = 8
	minContention      = 10 * time.Millisecond // the pauses between attempts
	maxContention      = 160 * time.Millisecond
)

// retryContended retries try after contended errors, for about half a second or until ctx ends.
func retryContended(ctx context.Context, try func() error) error {
	for attempt := 1; ; attempt++ {
		err := try()
		if !contended(err) || attempt == contentionAttempts ||
			es.Wait(ctx, es.Backoff(minContention, maxContention, attempt-1)) != nil {
			return err
		}
	}
}
