// Package schema is the one definition of the DynamoDB tables: the command dynamodb-setup creates them from it and
// compares what is there with it, and tests create theirs from it. It depends on the SDK alone.
//
// What the items hold is documented where they are written, in interfaceadaptor/gateway/dynamodb.
package schema
