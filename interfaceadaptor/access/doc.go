// Package access authenticates and authorizes requests, for both APIs and before any use case: a [Gate] turns a request
// into a [Principal], which says for which account and tenant the request may act, with which scopes. A rejection is a
// [Refusal], which each API writes in its own form. The domain decides what a member may do in a thread.
//
// Tokens are verified by infrastructure/auth and counted by infrastructure/ratelimit, which are ports of the gate.
package access
