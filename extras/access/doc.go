// Package access authenticates and authorizes requests, for both APIs and before any use case: a [Gate] puts a guard
// into the context of each request, which turns it into a principal of interfaceadaptor/admission, or refuses it. The
// domain decides what a member may do in a thread.
//
// A [Verifier] verifies access tokens: JSON Web Tokens of one OpenID Connect issuer, whose keys it finds by discovery,
// caches and follows when they are rotated. Package devissuer beside it is an issuer for development. [Open] combines
// gate, verifier and the counts of extras/limits as the [Settings] say, and [Access.Protect] puts a server behind them.
package access
