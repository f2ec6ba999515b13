// Package sequence numbers things for people: 1, 2, 3 ... per tenant, and never twice. The event store keeps how far a
// sequence is, so all processes share it; the gateways in interfaceadaptor/gateway are its [Store].
package sequence
