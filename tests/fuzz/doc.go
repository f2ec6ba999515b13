// Package fuzz runs every fuzz target of the module for a while: FUZZ_TIME each, which is two seconds in `make test`
// and a minute in `make fuzz`. Without it the tests of a package run its targets on their seeds alone.
package fuzz
