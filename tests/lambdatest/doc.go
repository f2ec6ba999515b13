// extra:whole

// Package lambdatest runs a function as AWS Lambda does, for tests: [Service] starts environments and speaks the
// runtime API with them, and [Mapping] is the event source mapping of a DynamoDB stream. Both do what AWS documents,
// and add the faults that it allows.
package lambdatest
