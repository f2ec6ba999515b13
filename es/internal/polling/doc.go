// Package polling is what the sources of changes share: [Pace] between polls, [Retry] after failures, and [HandOver] to
// a projection.
package polling
