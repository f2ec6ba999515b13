// Package schema is the only definition of the DynamoDB tables. Command dynamodb-setup creates and compares tables with
// it, and tests create theirs. It depends on the SDK only.
//
// The items are documented where they are written, in es/dynamodb.
package schema
