// Package programs starts, stops and kills the real programs for tests that see them from outside, as their clients do.
package programs
