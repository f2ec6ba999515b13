package dynamodbstreams

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

func isNotFound(err error) bool {
	var fault *types.ResourceNotFoundException
	return errors.As(err, &fault)
}

func isExpired(err error) bool {
	var fault *types.ExpiredIteratorException
	return errors.As(err, &fault)
}

func isTrimmed(err error) bool {
	var fault *types.TrimmedDataAccessException
	return errors.As(err, &fault)
}
