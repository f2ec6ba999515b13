// Package testservices runs a command between the start and the stop of services of its own: DynamoDB
// Local in memory and MySQL or MariaDB in a temporary folder, on free ports. `make test` is such a
// command; package testenv hands the addresses to the tests.
package testservices
