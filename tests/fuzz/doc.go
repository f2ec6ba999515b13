// Package fuzz runs every fuzz target of the module for FUZZ_TIME each: two seconds in `make test`, a minute in `make
// fuzz`. The tests of a package run its targets only with their seeds.
package fuzz
