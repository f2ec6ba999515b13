// Package simulation runs the library's commands, projections, process managers and rebuilds in one deterministic
// world, with faults that a seed selects. Only tests use it: [Schedules] runs schedules of the world, with a [Consumer]
// of another package if there is one.
//
// The code is the library's own; the event store, the stream and time are simulated, and rows are in a real SQLite.
// Each I/O is a step: all goroutines wait, and the seed lets one of them go on (world.go), with a fault or without. So
// a seed always tells the same story. After each step, and at the end, the world compares what is stored with what was
// acknowledged, and rows with the fold of the events (simulation.go). A failure prints its seed, its story, and the
// fewest faults and commands that still cause it.
package simulation
