// Package faults makes DynamoDB fail in the ways that DynamoDB Local never does. It stands between the SDK and the
// network, for tests: calls go to the real store, except where a test says otherwise.
package faults
