// Package ratelimit limits what each key may use: requests per second ([Rate]) and what is held at once ([Budget]). It
// knows keys and numbers only; interfaceadaptor/access uses it, and cmd/internal/access joins the two.
package ratelimit
