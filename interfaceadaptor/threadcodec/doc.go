// Package threadcodec defines the JSON of threads: of their events ([Events]), as a table for eventcodec, and of their
// states ([Snapshots]). Everything that was ever written stays readable; each version of it has a golden file in
// testdata.
package threadcodec
