// Package projectiontest is the contract of a [projection.Store], and of the projector on it, as a test suite: each
// adapter runs it with one call of [Run] against the real database, and keeps the suite's rows beside the store's own
// ([Lines]). The journal is one in memory whose faults tests set.
package projectiontest
