// Package faults simulates failures of DynamoDB that DynamoDB Local never produces. It stands between the SDK and the
// network in tests: calls reach the real store unless a test defines a fault.
package faults
