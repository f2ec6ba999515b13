// Package sequence gives things numbers for people: 1, 2, 3 ... per tenant, and never twice. The event store holds the
// last number, so all processes share it; the event stores are [es.Sequences].
package sequence
