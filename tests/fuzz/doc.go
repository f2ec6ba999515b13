// Package fuzz runs every fuzz target of the module for FUZZ_TIME each: a minute in `make fuzz`. In `make test` the
// targets run with their seeds only, as tests of their packages.
package fuzz
