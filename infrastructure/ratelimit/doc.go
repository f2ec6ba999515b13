// Package ratelimit says how much of something each of many may have: requests a second ([Rate]) and what they hold at
// once ([Budget]). It knows keys and numbers; interfaceadaptor/access asks it, and cmd/internal/access joins the two.
package ratelimit
