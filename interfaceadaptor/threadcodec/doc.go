// Package threadcodec encodes threads as JSON: their events ([Events]), as a table for eventcodec, and their states
// ([Snapshots]). Every version ever written stays readable and has a golden file in testdata.
package threadcodec
