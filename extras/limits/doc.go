// Package limits limits what each key may use: requests per second ([Rate]) and what is held at once ([Budget]). It
// knows keys and numbers only; extras/access uses it.
package limits
