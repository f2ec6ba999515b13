// Package simulation runs the library's commands, projections, process managers and rebuilds in one deterministic
// world, with faults that a seed selects. It has tests only.
package simulation
