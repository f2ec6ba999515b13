// Package access puts together who is let in: the gate of interfaceadaptor/access over the tokens of
// infrastructure/auth and the limits of infrastructure/ratelimit, with the issuer for development where AUTH=dev asks
// for it.
package access
