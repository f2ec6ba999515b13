// Package auth verifies access tokens: JSON Web Tokens of one OpenID Connect issuer, whose keys it finds by discovery,
// caches and follows when they are rotated. It returns a token's claims; interfaceadaptor/access decides what they
// allow, and cmd/internal/access joins the two.
//
// Package devissuer beside it is an issuer for development.
package auth
