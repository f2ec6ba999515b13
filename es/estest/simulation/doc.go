// Package simulation runs the library's commands, projections, process managers and rebuilds in one deterministic
// world, with faults that a seed selects. Only tests use it: [Schedules] runs schedules of the world, with a [Consumer]
// of another package if there is one.
package simulation
