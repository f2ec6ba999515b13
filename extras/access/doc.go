// Package access authenticates and authorizes requests, for both APIs and before any use case: a [Gate] turns a request
// into a [Principal], which says for which account and tenant the request may act, with which scopes. A rejection is a
// [Refusal], which each API writes in its own form. The domain decides what a member may do in a thread.
//
// A [Verifier] verifies access tokens: JSON Web Tokens of one OpenID Connect issuer, whose keys it finds by discovery,
// caches and follows when they are rotated. Package devissuer beside it is an issuer for development. [Open] combines
// gate, verifier and the counts of extras/limits as the [Settings] say.
package access
