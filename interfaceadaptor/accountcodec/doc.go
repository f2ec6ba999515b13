// Package accountcodec is the one place that knows the JSON of accounts: of their events ([Events]), as a table for
// eventcodec, and of their states ([Snapshots]). What was ever written stays readable, and each version of it has a
// golden file in testdata.
package accountcodec
