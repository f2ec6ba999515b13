// Package projectiontest is the contract of a [projection.ReadModel], and of the projector on it, as a test suite: each
// adapter runs it with one call of [Run] against the real database. The journal is one in memory whose faults tests set.
package projectiontest
