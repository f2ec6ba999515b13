// Package access combines the gate of interfaceadaptor/access with the tokens of infrastructure/auth, the limits of
// infrastructure/ratelimit and, with AUTH=dev, the issuer for development.
package access
