// Package projectiontest tests the contract of a [projection.Store] together with the projector. Each adapter calls
// [Run] with the real database, which also has the suite's rows ([Lines]). The journal is in memory, and tests inject
// its faults.
package projectiontest
