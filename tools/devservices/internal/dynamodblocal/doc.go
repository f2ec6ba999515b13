// Package dynamodblocal finds, downloads or borrows from Docker the one program that speaks
// DynamoDB and DynamoDB Streams on a laptop, and says how to start it. launch starts it.
package dynamodblocal
