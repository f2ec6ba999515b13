// Package auth verifies access tokens: JSON Web Tokens of one OpenID Connect issuer, whose keys it finds by discovery,
// caches and follows when they are rotated. It knows what a token says, and not what that allows:
// interfaceadaptor/access judges that, and cmd/internal/access joins the two.
//
// Package devissuer beside it is an issuer for development.
package auth
