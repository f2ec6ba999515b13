// Package skew compares this computer's clock with that of the event store, which all writers share. The programs'
// wiring (cmd/internal/eventstore) gives it the store's clock, and has commands refused while the two differ too much.
package skew
