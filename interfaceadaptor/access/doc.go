// Package access decides who may come in and what they may do, for both APIs and before any use case: a [Gate] makes a
// [Principal] of a request, and the principal says which account and tenant that can act for, with which scopes. What
// it refuses is a [Refusal], which each API tells in its own form. What a member may do in a thread is not decided here
// but by the domain.
//
// Tokens are verified by infrastructure/auth and counted by infrastructure/ratelimit, which the gate knows as ports.
package access
