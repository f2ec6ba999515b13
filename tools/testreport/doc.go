// Command testreport runs go test and reports in a way that hides nothing: one line for each package
// when it is done, with the number of its tests; the full output of what failed; what has been running
// for long; and at the end how many tests ran, and by name which were skipped and why. Plain go test
// says "ok" for a package whose tests were all skipped.
//
//	testreport [go test flag or package...]
//
// The exit code is that of go test.
package main
