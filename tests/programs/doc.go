// Package programs starts, stops and kills the real programs for tests that use them as clients do.
package programs
