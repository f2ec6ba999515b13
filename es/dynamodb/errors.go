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

	"example.com/threads/es"
)

// explain adds what failed, and classifies the error: the caller has disconnected (context.Canceled), the store did not
// answer (es.ErrUnavailable), or a fault.
func explain(ctx context.Context, err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	doing := fmt.Sprintf(format, args...)
	switch ended := ctx.Err(); {
	case errors.Is(ended, context.Canceled):
		return fmt.Errorf("%s: %w", doing, ended)
	case ended != nil || transient(err):
		return fmt.Errorf("%s: %w: %w", doing, es.ErrUnavailable, err)
	default:
		return fmt.Errorf("%s: %w", doing, err)
	}
}

// transient reports whether a later attempt may succeed: errors that the SDK has retried in vain, and errors that it
// does not know, such as a truncated answer or a name that does not resolve.
func transient(err error) bool {
	var unsent *smithyhttp.RequestSendError
	var quota ratelimit.QuotaExceededError
	return contended(err) ||
		retry.IsErrorRetryables(retry.DefaultRetryables).IsErrorRetryable(err) == aws.TrueTernary ||
		errors.As(err, &unsent) || errors.As(err, &quota) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errUnprocessed)
}

// contended reports whether a write failed because of a concurrent transaction or too little capacity: nothing was
// written, and a retry some milliseconds later may succeed. The SDK does not retry these errors.
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

// refused reports whether a condition failed, so that a retry cannot help.
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
